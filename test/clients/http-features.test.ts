import assert from "node:assert/strict";
import { once } from "node:events";
import {
  createServer,
  request as requestOverHttp1,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";

/** What a client has seen of an answer. */
interface Seen {
  readonly status: number | undefined;
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
  /** Statuses of the responses before it. */
  readonly early: readonly number[];
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly trailers?: Readonly<Record<string, string>>;
}

const POLICIES = `
policies:
  - { resource: "* /**", condition: true }
  - { resource: QUERY /contacts, condition: request.body.surname == "Lovelace" }
response_masks:
  - { api_pattern: "/masked/**", fields: [{ name: ssn, condition: true, mask_type: full }] }
`;

/** Parts of HTTP that few applications use, between Node.js's own client and server. */
describe("clients: methods, trailers and interim responses", function () {
  this.timeout(180_000);
  let gateway: RunningGateway;
  let issuer: TestIssuer;
  /** What the application got. */
  const got: { method: string | undefined; body: string; trailers: IncomingHttpHeaders; expect?: string }[] =
    [];

  const application = createServer((request, response) => {
    void text(request).then((body) => {
      const { expect } = request.headers;
      got.push({
        ...{ method: request.method, body, trailers: { ...request.trailers } },
        ...(expect !== undefined && { expect }),
      });
      const answer = () => {
        response.setHeader("content-type", "application/json");
        response.setHeader("trailer", "x-sum");
        response.write('{"ssn":"1"}');
        response.addTrailers({ "x-sum": "7" });
        response.end();
      };
      if (request.url?.endsWith("/hints"))
        response.writeEarlyHints({ link: "</ssn.css>; rel=preload" }, answer);
      else answer();
    });
  });

  before(async () => {
    await once(application.listen(0, "127.0.0.1"), "listening");
    issuer = await startIssuer();
    gateway = await startGateway({
      backend: `http://127.0.0.1:${String((application.address() as AddressInfo).port)}`,
      issuer,
      policies: { "default.yaml": POLICIES },
    });
  });
  beforeEach(() => {
    got.length = 0;
  });
  after(async () => {
    await gateway.stop();
    application.closeAllConnections();
    application.close();
    await issuer.close();
  });

  async function askOverHttp1({ method = "GET", path, headers = {}, body, trailers }: Sent): Promise<Seen> {
    const early: number[] = [];
    const request = requestOverHttp1(`${gateway.url}${path}`, {
      method,
      headers: { ...headers, ...(trailers && { trailer: Object.keys(trailers).join() }) },
    });
    request.on("information", ({ statusCode }) => early.push(statusCode));
    if (trailers) request.addTrailers(trailers);
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const answer = await text(response);
    return { status: response.statusCode, body: answer, trailers: { ...response.trailers }, early };
  }

  async function askOverHttp2({ method = "GET", path, headers = {}, body, trailers }: Sent): Promise<Seen> {
    const session = connectHttp2(gateway.url);
    try {
      const early: number[] = [];
      const stream = session.request(
        { ":method": method, ":path": path, ...headers },
        { endStream: body === undefined, waitForTrailers: trailers !== undefined },
      );
      let seen: IncomingHttpHeaders = {};
      stream.on("headers", (interim) => early.push(Number(interim[":status"])));
      stream.on("trailers", (received: IncomingHttpHeaders) => {
        seen = Object.fromEntries(Object.entries(received));
      });
      stream.on("wantTrailers", () => {
        stream.sendTrailers(trailers ?? {});
      });
      const response = once(stream, "response");
      if (body !== undefined) stream.end(body);
      const [head] = (await response) as [IncomingHttpHeaders & { ":status"?: number }];
      const answer = await text(stream);
      return { status: head[":status"], body: answer, trailers: seen, early };
    } finally {
      session.close();
    }
  }

  for (const [version, ask] of [
    ["HTTP/1.1", askOverHttp1],
    ["HTTP/2", askOverHttp2],
  ] as const) {
    describe(version, () => {
      it("trailers of a response are delivered; where a response rule applies, they are not", async () => {
        const plain = await ask({ path: "/plain" });
        assert.deepEqual([plain.status, plain.body, plain.trailers], [200, '{"ssn":"1"}', { "x-sum": "7" }]);
        const masked = await ask({ path: "/masked/plain" });
        assert.deepEqual([masked.status, masked.trailers], [200, {}]);
        assert.notEqual((JSON.parse(masked.body) as { ssn: string }).ssn, "1");
      });

      it("trailers of a request are not forwarded, and its body is", async () => {
        const { status } = await ask({
          method: "POST",
          path: "/plain",
          body: "hello",
          trailers: { "x-role": "admin" },
        });
        assert.equal(status, 200);
        assert.deepEqual(
          got.map(({ body, trailers }) => ({ body, trailers })),
          [{ body: "hello", trailers: {} }],
        );
      });

      it("QUERY is evaluated with its body, and forwarded with it", async () => {
        const headers = { "content-type": "application/json" };
        const query = (surname: string) =>
          ask({ method: "QUERY", path: "/contacts", headers, body: JSON.stringify({ surname }) });
        assert.equal((await query("Byron")).status, 403);
        assert.deepEqual(got, []);
        assert.equal((await query("Lovelace")).status, 200);
        assert.deepEqual(got, [{ method: "QUERY", body: '{"surname":"Lovelace"}', trailers: {} }]);
      });

      it("early hints (103) are not delivered, and the response is", async () => {
        for (const path of ["/hints", "/masked/hints"]) {
          const { status, early, body } = await ask({ path });
          assert.deepEqual([status, early], [200, []], path);
          assert.deepEqual(Object.keys(JSON.parse(body) as object), ["ssn"]);
        }
      });
    });
  }

  it("a client that waits for 100 with its body gets it from the gateway, before the application is asked", async () => {
    for (const [path, body, status] of [
      ["POST /plain", "hello", 200],
      ["QUERY /contacts", '{"surname":"Byron"}', 403],
    ] as const) {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.write(
        `${path} HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nExpect: 100-continue\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n`,
      );
      const [first] = (await once(socket, "data")) as [Buffer];
      assert.equal(first.toString(), "HTTP/1.1 100 Continue\r\n\r\n");
      assert.deepEqual(got, []);
      socket.write(body);
      assert.match(await text(socket), new RegExp(`^HTTP/1.1 ${String(status)} `));
      if (status === 200) assert.deepEqual(got, [{ method: "POST", body, trailers: {} }]);
      got.length = 0;
    }
  });
});
