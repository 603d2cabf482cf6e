import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { WebSocketServer } from "ws";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { connectSocket } from "../../support/socket-client.ts";

const POLICIES = `
policies:
  - { resource: "* /me", condition: exists(user.id) }
  - { resource: "* /public/**", condition: "true" }
  - { resource: "* /masked", condition: "true" }
  - { resource: "POST /read", condition: request.body.a == 1 }
websocket_policies:
  - connection: { path: /socket, condition: exists(user.id) }
  - connection: { path: /public/socket, condition: "true" }
response_masks:
  - api_pattern: /masked
    fields: [{ name: ssn, condition: "true", mask_type: full }]
`;

type Headers = Readonly<Record<string, string>>;
const EVIL: Headers = { "sec-fetch-site": "cross-site", origin: "https://evil.test" };

/** A session in a cookie, and pages of other sites that have the browser send it. */
describe("end to end: origin of requests with a cookie", function () {
  this.timeout(180_000);
  let upstream: AnsweringUpstream;
  let sockets: WebSocketServer;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let token: string;
  const handshakes: AnsweringUpstream["seen"][number]["headers"][] = [];

  const start = (identity: Record<string, unknown>) =>
    startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        identity: { issuer: issuer.url, audience: issuer.audience, cookie: "session", ...identity },
      },
    });

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    upstream.answer = (_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end("{}");
    };
    sockets = new WebSocketServer({ server: upstream.server });
    sockets.on("connection", (_socket, request) => handshakes.push(request.headers));
    token = await issuer.token({ sub: "u-7" });
    gateway = await start({ trusted_origins: ["https://admin.example"] });
  });
  beforeEach(() => {
    upstream.seen.length = 0;
    handshakes.length = 0;
  });
  after(async () => {
    await gateway.stop();
    for (const socket of sockets.clients) socket.terminate();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const cookie = () => ({ cookie: `theme=dark; session=${token}; lang=d\u00e9` });
  type Send = (
    method: string,
    path: string,
    headers: Headers,
    body?: string,
  ) => Promise<{ readonly status: number; readonly body: string }>;
  const ways: Readonly<Record<string, Send>> = {
    "HTTP/1.1": (method, path, headers, body = "") => {
      const all = { ...cookie(), "content-length": String(body.length), ...headers };
      const lines = Object.entries(all).map(
        ([name, value]) => `${name}: ${Buffer.from(value).toString("latin1")}`,
      );
      const head = [
        `${method} ${path} HTTP/1.1`,
        `Host: app.test:${gateway.port}`,
        "Connection: close",
        ...lines,
      ];
      return sendRaw(gateway.port, `${head.join("\r\n")}\r\n\r\n${body}`);
    },
    "HTTP/2": async (method, path, headers, body = "") => {
      const session = connect(gateway.url);
      try {
        const stream = session.request(
          {
            ":method": method,
            ":path": path,
            ":authority": `app.test:${gateway.port}`,
            // browsers send cookies apart (RFC 9113, section 8.2.3)
            cookie: cookie()
              .cookie.split("; ")
              .map((pair) => Buffer.from(pair).toString("latin1")),
            ...headers,
          },
          { endStream: body === "" },
        );
        if (body !== "") stream.end(body);
        const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
        let text = "";
        for await (const chunk of stream) text += String(chunk);
        return { status: answer[":status"] ?? 0, body: text };
      } finally {
        session.close();
      }
    },
  };

  const JSON_BODY = { "content-type": "application/json" };

  for (const [way, send] of Object.entries(ways)) {
    describe(way, () => {
      it("refuses what another site sends, and says why", async () => {
        for (const method of ["POST", "PUT", "DELETE"]) {
          for (const headers of [
            EVIL,
            { origin: "https://evil.test" },
            { "sec-fetch-site": "same-site" },
            {},
          ]) {
            const answer = await send(method, "/me", headers);
            assert.equal(answer.status, 403, JSON.stringify(headers));
            assert.match(answer.body, /"code":"ORIGIN_NOT_TRUSTED".*"reason":"ORIGIN_NOT_TRUSTED"/);
          }
        }
        assert.deepEqual(upstream.seen, []);
      });

      it("lets through what its own pages send, and what changes nothing", async () => {
        const own = { origin: `http://app.test:${gateway.port}` };
        const admin = { "sec-fetch-site": "cross-site", origin: "https://admin.example" };
        for (const headers of [{ "sec-fetch-site": "same-origin" }, own, admin])
          assert.equal((await send("POST", "/me", headers)).status, 200, JSON.stringify(headers));
        assert.equal((await send("GET", "/me", EVIL)).status, 200);
        assert.deepEqual(
          upstream.seen.map(({ headers }) => headers["x-user-id"]),
          ["u-7", "u-7", "u-7", "u-7"],
        );
        assert.ok(upstream.seen.every(({ headers }) => headers.cookie?.includes(`session=${token}`)));
      });

      it("tells no application who a request of another site belongs to", async () => {
        assert.equal((await send("POST", "/public/a", EVIL)).status, 200);
        assert.equal((await send("POST", "/masked", EVIL)).status, 200);
        assert.equal((await send("POST", "/read", { ...EVIL, ...JSON_BODY }, '{"a":1}')).status, 200);
        assert.equal(upstream.seen.length, 3);
        for (const { headers } of upstream.seen) {
          assert.equal(headers["x-user-id"], undefined);
          assert.equal(Buffer.from(headers.cookie ?? "", "latin1").toString(), "theme=dark; lang=d\u00e9");
        }
      });

      it("takes a token that was presented on purpose, whatever the cookie", async () => {
        const headers = { ...EVIL, authorization: `Bearer ${await issuer.token({ sub: "u-8" })}` };
        assert.equal((await send("POST", "/me", headers)).status, 200);
        assert.equal(upstream.seen[0]?.headers["x-user-id"], "u-8");
      });
    });
  }

  describe("WebSocket", () => {
    const open = (path: string, headers: Headers) =>
      connectSocket(`ws://127.0.0.1:${gateway.port}${path}`, {
        headers: { host: `app.test:${gateway.port}`, cookie: `session=${token}`, ...headers },
      });

    it("opens none for another site", async () => {
      for (const headers of [EVIL, { origin: "https://evil.test" }, { origin: "null" }, {}]) {
        const client = await open("/socket", headers);
        assert.equal(client.refusal(), 403, JSON.stringify(headers));
      }
      assert.deepEqual(handshakes, []);
    });

    it("opens them for its own pages, and elsewhere without the user", async () => {
      const clients = [
        await open("/socket", { origin: `http://app.test:${gateway.port}` }),
        await open("/public/socket", EVIL),
      ];
      for (const client of clients) {
        assert.equal(client.refusal(), undefined);
        client.close();
      }
      assert.deepEqual(
        handshakes.map((headers) => [headers["x-user-id"], headers.cookie]),
        [
          ["u-7", `session=${token}`],
          [undefined, undefined],
        ],
      );
    });

    it("opens none for another site over HTTP/2", async () => {
      const session = connect(gateway.url);
      session.on("error", () => undefined);
      await once(session, "remoteSettings");
      const statuses = [];
      for (const origin of ["https://evil.test", `http://app.test:${gateway.port}`]) {
        const stream = session.request(
          {
            ":method": "CONNECT",
            ":protocol": "websocket",
            ":scheme": "http",
            ":path": "/socket",
            ":authority": `app.test:${gateway.port}`,
            "sec-websocket-version": "13",
            // which the application's library wants, and HTTP/2 has no use for
            "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
            cookie: `session=${token}`,
            origin,
          },
          { endStream: false },
        );
        stream.on("error", () => undefined);
        const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
        statuses.push(answer[":status"]);
        stream.close();
      }
      session.destroy();
      assert.deepEqual(statuses, [403, 200]);
    });
  });

  it("records and counts it", async () => {
    const send = ways["HTTP/1.1"]!;
    await send("POST", "/me", EVIL);
    await send("POST", "/public/recorded", EVIL);
    const [denied, open] = await eventually("the records", async () => {
      const records = await gateway.audit();
      const found = [
        records.findLast(({ reason }) => reason === "ORIGIN_NOT_TRUSTED"),
        records.find(({ resource }) => resource === "/public/recorded"),
      ];
      return found.includes(undefined) ? undefined : found;
    });
    assert.equal(denied?.["user_id"], "u-7");
    assert.equal(denied["detail"], "sec-fetch-site is `cross-site`, origin `https://evil.test`");
    assert.deepEqual([open?.decision, open?.["user_id"]], ["ALLOW", ""]);
    assert.match(String(open?.["detail"]), /^the cookie is ignored: sec-fetch-site is `cross-site`/);
    assert.ok((await gateway.metric("gatehouse_decisions_total", { reason: "ORIGIN_NOT_TRUSTED" })) > 0);
    assert.doesNotMatch(gateway.stderr(), /cookie_origin_check/);
  });

  it("can be switched off, which the log says", async () => {
    const open = await start({ cookie_origin_check: false });
    try {
      const lines = Object.entries({ ...EVIL, cookie: `session=${token}` }).map((header) =>
        header.join(": "),
      );
      const head = [
        "POST /me HTTP/1.1",
        "Host: app.test",
        "Connection: close",
        "Content-Length: 0",
        ...lines,
      ];
      const { status } = await sendRaw(open.port, `${head.join("\r\n")}\r\n\r\n`);
      assert.equal(status, 200);
      assert.equal(upstream.seen[0]?.headers["x-user-id"], "u-7");
      await eventually("the log says so", () => open.stderr().includes("cookie_origin_check is off"));
    } finally {
      await open.stop();
    }
  });
});
