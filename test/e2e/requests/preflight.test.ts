import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";

const SECRET = "staff-4711";
const POLICIES = `
preflight: allow
policies:
  - { resource: "* /staff", condition: user.role == "admin" }
  - { resource: "OPTIONS /described", condition: exists(user.id) }
`;
const PREFLIGHT: Readonly<Record<string, string>> = {
  origin: "https://app.test",
  "access-control-request-method": "PUT",
  "access-control-request-headers": "authorization",
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** What an application does for OPTIONS when it does not know that this is a preflight: its work. */
describe("end to end: CORS preflights", function () {
  this.timeout(180_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  const received: string[] = [];
  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    upstream.answer = (request, response) => {
      request.on("data", (chunk: Buffer) => received.push(chunk.toString()));
      if (request.url === "/silent") return;
      const status = request.url === "/nowhere" ? 404 : request.url === "/empty" ? 204 : 200;
      const cors = { "access-control-allow-origin": "https://app.test", vary: "Origin" };
      const type = request.url === "/masked" ? "text/plain" : "application/json";
      response.writeHead(status, { ...cors, "x-secret": SECRET, "content-type": type });
      response.end(`{"name":"${SECRET}"}`);
    };
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        gateway: {
          routes: [{ path: "/silent", upstream_timeout: "1s" }],
          security: { request_size_limit: "1KB" },
        },
      },
    });
  });
  beforeEach(() => {
    upstream.seen.length = 0;
    received.length = 0;
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const send = async (path: string, headers: Record<string, string>, body: readonly string[] = []) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const head = [`OPTIONS ${path} HTTP/1.1`, "Host: api.test", "Connection: close", ...lines, "", ""];
    const { status, ...rest } = await sendRaw(gateway.port, head.join("\r\n") + body.join(""));
    return { status, text: JSON.stringify(rest) };
  };

  const send2 = async (path: string, headers: Record<string, string>, body: readonly string[] = []) => {
    const session = connect(gateway.url);
    try {
      const stream = session.request(
        { ":method": "OPTIONS", ":path": path, ":authority": "api.test", ...headers },
        { endStream: body.length === 0 },
      );
      stream.on("error", () => undefined);
      for (const part of body) stream.write(part);
      if (body.length > 0) stream.end();
      const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
      let text = JSON.stringify(answer);
      stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
      await once(stream, "close");
      return { status: answer[":status"] ?? 0, text };
    } finally {
      session.destroy();
    }
  };

  const protocols = { "HTTP/1.1": send, "HTTP/2": send2 };

  const assertRefused = ({ status, text }: Answer, expected: number, what: string) => {
    assert.equal(status, expected, what);
    assert.ok(!text.includes(SECRET), what);
    assert.deepEqual([upstream.seen, received], [[], []], what);
  };

  for (const [protocol, ask] of Object.entries(protocols)) {
    describe(`over ${protocol}`, () => {
      it("show anybody what CORS says, and nothing of the application", async () => {
        for (const [path, expected] of [
          ["/staff", 200],
          ["/nowhere", 404],
        ] as const) {
          const { status, text } = await ask(path, PREFLIGHT);
          assert.equal(status, expected);
          assert.ok(!text.includes(SECRET), text);
          assert.match(text, /"access-control-allow-origin":"https:\/\/app.test"/);
        }
        assert.equal(upstream.seen.length, 2);
      });

      it("are over with a word: nothing but headers was delivered", async () => {
        const outcomes = async () =>
          (await gateway.audit()).filter(({ event }) => event === "response").map(({ result }) => result);
        const before = (await outcomes()).length;
        for (const path of ["/staff", "/nowhere", "/empty"]) await ask(path, PREFLIGHT);
        await eventually("three outcomes", async () => (await outcomes()).length >= before + 3);
        assert.deepEqual(new Set(await outcomes()), new Set(["headers_only"]));
      });

      it("bring nobody's identity, cookies or token to the application", async () => {
        const authorization = `Bearer ${await issuer.token({ sub: "u-1", role: "admin" })}`;
        const more = { authorization, cookie: "session=1", "x-api-key": "k", "content-type": "text/plain" };
        const { status } = await ask("/staff", { ...PREFLIGHT, ...more });
        assert.equal(status, 200);
        const { headers } = upstream.seen[0]!;
        for (const name of [...Object.keys(more), "x-user-id", "x-user-role"])
          assert.equal(headers[name], undefined, name);
        for (const [name, value] of Object.entries(PREFLIGHT)) assert.equal(headers[name], value);
      });

      it("are refused where they are none, whoever asks", async () => {
        const malformed: readonly Record<string, string>[] = [
          { origin: "https://a.test, https://b.test" },
          { origin: "https://a.test/x" },
          { "access-control-request-method": "PUT, POST" },
          { "access-control-request-headers": "a b" },
        ];
        for (const one of malformed)
          assertRefused(await ask("/staff", { ...PREFLIGHT, ...one }), 400, JSON.stringify(one));
        const method = { "access-control-request-method": "PUT" };
        assertRefused(await ask("/staff", method), 401, "no origin: a request like others");
      });

      it("are evaluated by a rule for OPTIONS where there is one, as requests like others", async () => {
        assertRefused(await ask("/described", PREFLIGHT), 401, "anonymous");
        const authorization = `Bearer ${await issuer.token({ sub: "u-1" })}`;
        const { status, text } = await ask("/described", { ...PREFLIGHT, authorization }, ["x"]);
        // over HTTP/1.1 the byte belongs to nobody
        assert.deepEqual([status, text.includes(SECRET)], [200, true]);
      });
    });
  }

  it("have no body: none reaches the application, announced or not", async () => {
    assertRefused(await send("/staff", { ...PREFLIGHT, "content-length": "8" }, ["delete=1"]), 400, "length");
    const chunked = { ...PREFLIGHT, "transfer-encoding": "chunked" };
    assertRefused(await send("/staff", chunked, ["8\r\ndelete=1\r\n0\r\n\r\n"]), 400, "chunked");
    assertRefused(
      await send("/staff", chunked, ["1\r\n", "d\r\n", "0\r\nx-trailer: 1\r\n\r\n"]),
      400,
      "trailer",
    );
    assertRefused(await send2("/staff", PREFLIGHT, ["delete=1"]), 400, "DATA");
    assertRefused(await send2("/staff", PREFLIGHT, ["", "d"]), 400, "DATA after an empty frame");
    assertRefused(
      await send2("/nowhere", { ...PREFLIGHT, "content-length": "8" }, ["delete=1"]),
      400,
      "a path without a rule",
    );
    for (const empty of [
      await send("/staff", chunked, ["0\r\n\r\n"]),
      await send("/staff", { ...PREFLIGHT, "content-length": "0" }),
      await send2("/staff", PREFLIGHT, [""]),
    ])
      assert.equal(empty.status, 200);
    assert.deepEqual(received, []);
  });

  describe("in a set with `cors`", () => {
    const APP = "https://app.test";
    const CORS = `
cors: { origins: ["${APP}"], credentials: true }
policies:
  - { resource: "* /staff", condition: user.role == "admin" }
  - { resource: "* /silent", condition: true }
  - { resource: "* /open", condition: true }
  - { resource: GET /masked, condition: true }
response_filters:
  - { endpoint: /masked, filter_rules: [{ field: name, condition: true, action: remove }] }
`;
    const asks = async (path: string, origin: string, init: RequestInit = {}) => {
      const answer = await fetch(`${gateway.url}${path}`, { ...init, headers: { origin } });
      await answer.text();
      return answer;
    };
    const grants = ({ headers }: Response) =>
      ["origin", "credentials"].map((name) => headers.get(`access-control-allow-${name}`));
    before(async () => {
      await gateway.writePolicies({ "default.yaml": CORS });
      await eventually("the set is in force", async () => (await asks("/open", APP)).status === 200);
    });

    it("are answered by the gateway, with one record and nothing for the application", async () => {
      for (const ask of Object.values(protocols)) {
        const { status, text } = await ask("/staff", PREFLIGHT);
        assert.equal(status, 204);
        assert.match(text, /"access-control-allow-origin":"https:\/\/app.test"/);
        assert.match(text, /"access-control-allow-headers":"authorization, content-type"/);
        const other = await ask("/staff", { ...PREFLIGHT, origin: "https://evil.test" });
        assert.equal(other.status, 403);
        assert.ok(!other.text.includes("access-control"), other.text);
      }
      assert.deepEqual([upstream.seen, received], [[], []]);
      const [answered, refused] = ["PREFLIGHT_ANSWERED", "PREFLIGHT_ORIGIN_NOT_ALLOWED"];
      const reasons = await eventually("four records", async () => {
        const found = (await gateway.audit()).map(({ reason }) => reason);
        const ours = found.filter((reason) => reason === answered || reason === refused);
        return ours.length >= 4 ? ours : undefined;
      });
      assert.deepEqual(reasons.sort(), [answered, answered, refused, refused]);
    });

    const own: readonly (readonly [what: string, path: string, status: number, init?: RequestInit])[] = [
      ["a denial", "/staff", 401],
      ["a request that is ambiguous", "/a%2fb", 400],
      ["what Envoy refuses before the decision", "/open", 413, { method: "POST", body: "x".repeat(2000) }],
      ["what Envoy answers after the decision", "/silent", 504],
    ];
    for (const [what, path, status, init] of own)
      it(`let pages of listed origins read ${what}, and no others`, async () => {
        const listed = await asks(path, APP, init);
        assert.deepEqual([listed.status, ...grants(listed)], [status, APP, "true"]);
        assert.match(listed.headers.get("vary") ?? "", /\borigin$/);
        assert.match(listed.headers.get("access-control-expose-headers") ?? "", /x-request-id/);
        for (const origin of ["https://evil.test", "null", `${APP}, https://evil.test`]) {
          const other = await asks(path, origin, init);
          assert.deepEqual([other.status, ...grants(other)], [status, null, null], origin);
          // what nobody may store need not say by what it differs
          const { headers } = other;
          assert.ok(
            headers.get("cache-control") === "no-store" || /\borigin$/.test(headers.get("vary") ?? ""),
          );
          assert.deepEqual(
            [...other.headers.keys()].filter((name) => name.startsWith("x-gatehouse")),
            [],
          );
        }
      });

    it("change nothing of what the application answers", async () => {
      const answer = await asks("/open", "https://evil.test");
      assert.deepEqual([answer.status, ...grants(answer)], [200, APP, null]);
      assert.equal(answer.headers.get("vary"), "Origin");
    });

    it("show nothing of the gateway's own where a response is replaced that had begun", async () => {
      const { status, headers } = await asks("/masked", APP);
      assert.equal(status, 502);
      assert.deepEqual(
        [...headers.keys()].filter((name) => name.startsWith("x-gatehouse")),
        [],
      );
    });

    it("grant nothing to a request with two origins", async () => {
      for (const [path, length] of [
        ["/staff", 0],
        ["/open", 5000],
      ] as const) {
        const lines = [`POST ${path} HTTP/1.1`, "Host: api.test", `Content-Length: ${length}`];
        const two = [`Origin: ${APP}`, "Origin: https://evil.test", "Connection: close", "", ""];
        const { status, headers } = await sendRaw(gateway.port, [...lines, ...two].join("\r\n"));
        assert.deepEqual(
          [status, headers["access-control-allow-origin"]],
          [length > 0 ? 413 : 401, undefined],
        );
      }
    });
  });
});
