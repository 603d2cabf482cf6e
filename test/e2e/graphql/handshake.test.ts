import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";

const SECRET = "payroll-4711";
/** The path's rule permits, and so does the entry for connections: only what is asked for is refused. */
const POLICIES = `
default: allow
policies:
  - { resource: "* /graphql", condition: true }
  - { resource: "GET /page", condition: true }
graphql_policies:
  - { query: me, condition: true }
  - { query: payroll, condition: user.role == "admin" }
websocket_policies:
  - connection: { condition: true }
response_masks:
  - { api_pattern: /masked, fields: [{ name: ssn, condition: true, mask_type: full }] }
`;

const OPERATION = "/graphql?query=%7Bpayroll%7Btotal%7D%7D";
const UPGRADE = ["Connection: Upgrade", "Upgrade: websocket"];
const KEY = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];

/** Nobody answers 101 here: an application that knows nothing of WebSocket, and runs what a URL asks for. */
describe("end to end: GraphQL dressed as a WebSocket handshake", () => {
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    gateway = await startGateway({ backend: upstream.url, issuer, policies: { "default.yaml": POLICIES } });
  });
  beforeEach(() => {
    upstream.seen.length = 0;
    answer(500);
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const answer = (status: number) => {
    upstream.answer = (_request, response) => {
      const headers = { "content-type": "application/json", "x-secret": SECRET, "set-cookie": SECRET };
      response.writeHead(status, { ...headers, ...(status < 400 && { location: `/${SECRET}` }) });
      response.end(status === 204 || status === 304 ? undefined : `{"ssn":"${SECRET}"}`);
    };
  };

  /** Over HTTP/1.1, the head as it is written. */
  const send = async (target: string, headers: readonly string[], { method = "GET", body = "" } = {}) => {
    const head = [`${method} ${target} HTTP/1.1`, "Host: app.test", ...headers, ...KEY, "", body];
    const { status, ...rest } = await sendRaw(gateway.port, head.join("\r\n"));
    return { status, text: JSON.stringify(rest) };
  };

  /** Over HTTP/2, by extended CONNECT unless the headers say otherwise. */
  const send2 = async (path: string, headers: Record<string, string> = {}) => {
    const session = connect(gateway.url);
    try {
      await once(session, "remoteSettings");
      const stream = session.request(
        {
          ":method": "CONNECT",
          ":protocol": "websocket",
          ":scheme": "http",
          ":authority": "app.test",
          ":path": path,
          "sec-websocket-version": "13",
          ...headers,
        },
        { endStream: false },
      );
      const [received] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
      let body = "";
      stream.on("data", (chunk: Buffer) => (body += chunk.toString()));
      stream.on("error", () => undefined);
      stream.end();
      await once(stream, "close");
      return { status: received[":status"] ?? 0, text: JSON.stringify(received) + body };
    } finally {
      session.destroy();
    }
  };

  const refusedWith = (answered: { status: number; text: string }, status: number, what: string) => {
    assert.equal(answered.status, status, what);
    assert.ok(!answered.text.includes(SECRET), what);
    assert.deepEqual(upstream.seen, [], what);
  };

  it("is refused over HTTP/1.1, however the handshake is written", async () => {
    const written: readonly (readonly string[])[] = [
      UPGRADE,
      ["Connection: upgrade", "Upgrade: WebSocket"],
      ["Connection: keep-alive, Upgrade", "Upgrade: websocket"],
      ["Connection: keep-alive", "Connection: UPGRADE", "Upgrade: WEBSOCKET"],
      ["Connection: Upgrade\t", "Upgrade:\twebsocket "],
      [...UPGRADE, "Content-Length: 0"],
    ];
    for (const headers of written) refusedWith(await send(OPERATION, headers), 400, headers.join());
    for (const target of [
      "/graphql?id=payroll",
      "/graphql?%5Bquery%5D=x",
      "/graphql??query=x",
      "/graphql?a?id=payroll",
      "/graphql?token=t&next=/a?query=x",
      "/graphql?token=t%26query=x",
      "/graphql?op=%7Bpayroll%7D",
      "/graphql/?query=x",
    ])
      refusedWith(await send(target, UPGRADE), 400, target);
  });

  it("is refused over HTTP/2", async () => {
    refusedWith(await send2(OPERATION), 400, "extended CONNECT");
    refusedWith(await send2(`${OPERATION}&token=t`), 400, "beside a token");
    refusedWith(await send2("/graphql?variables=%7B%7D"), 400, "variables");
  });

  it("is evaluated as the operation that it is, or turned down, where Envoy takes it for no handshake", async () => {
    const cases: readonly (readonly [headers: readonly string[], status: number])[] = [
      [["Connection: close", "Upgrade: websocket"], 401],
      [["Connection: Upgrade"], 401],
      [["Connection: Upgrade", "Upgrade: h2c"], 401],
      [["Connection: Upgrade", "Upgrade: WebSocket, h2c"], 403],
      [["Connection: Upgrade", "Upgrade: h2c, websocket"], 403],
      [[...UPGRADE, "Upgrade: websocket"], 403],
      [[...UPGRADE, "Upgrade: h2c"], 403],
      [["Connection: Upgrade", "Upgrade: websocket/13"], 403],
      [["Connection: Upgrade", "Upgrade: x"], 403],
    ];
    for (const [headers, status] of cases)
      refusedWith(await send(OPERATION, headers), status, headers.join());
  });

  it("is turned down with another method, and with another protocol", async () => {
    const body = '{"query":"{payroll{total}}"}';
    for (const method of ["POST", "PUT", "HEAD", "OPTIONS"]) {
      const headers = [...UPGRADE, "Content-Type: application/json", `Content-Length: ${body.length}`];
      refusedWith(
        await send(method === "POST" ? "/graphql" : OPERATION, headers, { method, body }),
        403,
        method,
      );
    }
    // letters count for nothing, as in an `Upgrade`
    for (const protocol of ["WebSocket", "WEBSOCKET"])
      refusedWith(await send2(OPERATION, { ":protocol": protocol }), 400, protocol);
    for (const protocol of ["connect-udp", "h2c", "websocket,h2c", "websocket/13", "x"])
      refusedWith(
        await send2(OPERATION, { ":protocol": protocol }),
        protocol === "connect-udp" ? 404 : 403,
        protocol,
      );
  });

  it("has no body: what stands there never reaches the application", async () => {
    for (const length of ["Content-Length: 28", "Transfer-Encoding: chunked"]) {
      const body = length.startsWith("T")
        ? '1c\r\n{"query":"{payroll{total}}"}\r\n0\r\n\r\n'
        : '{"query":"{payroll{total}}"}';
      const bodies: string[] = [];
      upstream.answer = (request, response) => {
        request.on("data", (chunk: Buffer) => bodies.push(chunk.toString()));
        response.writeHead(500).end(SECRET);
      };
      const { status, text } = await send("/graphql", [...UPGRADE, length], { body });
      assert.ok([400, 500].includes(status), String(status));
      assert.ok(!text.includes(SECRET));
      assert.deepEqual(bodies, [], length);
      refusedWith(
        { ...(await ((upstream.seen.length = 0), send(OPERATION, [...UPGRADE, length], { body }))) },
        400,
        length,
      );
    }
  });

  it("gets nothing of an answer that is no upgrade, whatever its status, without an operation, too", async () => {
    for (const status of [200, 204, 302, 304, 400, 401, 404, 500, 503])
      for (const path of ["/graphql", "/graphql?token=t", "/masked"]) {
        answer(status);
        for (const answered of [await send(path, UPGRADE), await send2(path)]) {
          assert.equal(answered.status, status < 400 ? 502 : status, path);
          assert.ok(!answered.text.includes(SECRET), `${path} ${status}: ${answered.text}`);
        }
      }
  });

  it("is a page like any other where no operations are evaluated", async () => {
    answer(404);
    const { status, text } = await send("/page?query=%7Ba%7D", UPGRADE);
    assert.deepEqual([status, text.includes(SECRET), upstream.seen.length], [404, true, 1]);
  });
});
