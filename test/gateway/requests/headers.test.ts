import assert from "node:assert/strict";
import { headerValues } from "../support/authz-stub.ts";
import { get, send, sendRaw } from "../support/client.ts";
import { startGateway } from "../support/gateway.ts";
import type { TestGateway } from "../support/gateway.ts";
import { Upstream } from "../support/upstream.ts";

describe("gateway headers", () => {
  let gateway: TestGateway;
  let other: Upstream;

  before(async () => {
    other = await new Upstream().listen();
    gateway = await startGateway({
      overrides: {
        "gateway.security.hsts_header": true,
        "gateway.trusted_proxies": ["127.0.0.1"],
        "gateway.backends": [`http://127.0.0.1:${other.port}`],
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await other.stop();
  });
  beforeEach(() => {
    gateway.upstream.seen.length = 0;
    gateway.authz.checks.length = 0;
    gateway.upstream.answer = (_, response) => response.end("hello");
  });

  it("removes forged identity and internal headers before anybody sees them", async () => {
    const forged = [
      "x-user-id",
      "X-User-Role",
      "x-customer-id",
      "x-gatehouse-anything",
      "X-Gatehouse-Decision",
      "x-envoy-auth-partial-body",
      "x-envoy-original-path",
      "x-envoy-upstream-rq-timeout-ms",
      "x-envoy-retry-on",
      "x-original-url",
      "x-rewrite-url",
    ];
    const answer = await send(gateway.port, "/a", {
      headers: Object.fromEntries(forged.map((name) => [name, "1"])),
    });
    assert.equal(answer.status, 200);
    for (const name of forged.map((text) => text.toLowerCase())) {
      assert.deepEqual(headerValues(gateway.authz.checks[0], name), [], `service: ${name}`);
      assert.equal(gateway.upstream.seen[0]?.headers[name], undefined, `upstream: ${name}`);
    }
  });

  it("lets the service see other headers as they are: repeated ones apart, bytes that are no UTF-8 unchanged", async () => {
    await sendRaw(gateway.port, get("/a", "X-Twice: one", "X-Twice: two", "X-Latin: caf\xe9\xff"));
    assert.deepEqual(headerValues(gateway.authz.checks[0], "x-twice"), ["one", "two"]);
    assert.deepEqual(headerValues(gateway.authz.checks[0], "x-latin"), ["caf\xe9\xff"]);
  });

  it("tells the service the connection's other end, whatever X-Forwarded-For says", async () => {
    await send(gateway.port, "/a", { headers: { "x-forwarded-for": "10.1.1.1", "x-real-ip": "10.1.1.2" } });
    const { source } = gateway.authz.checks[0]!.attributes;
    assert.equal(source.address.socketAddress.address, "127.0.0.1");
  });

  it("copies X-Forwarded-Proto for the service, and nothing that a client calls such a copy", async () => {
    for (const sent of [
      ["X-Forwarded-Proto: http", "X-Forwarded-Proto: https"],
      ["X-Forwarded-Proto: https"],
      [],
    ]) {
      gateway.authz.checks.length = 0;
      await sendRaw(gateway.port, get("/a", ...sent, "X-Gatehouse-Forwarded-Proto: root"));
      const [check] = gateway.authz.checks;
      const values = sent.map((line) => line.slice("X-Forwarded-Proto: ".length)).join(",");
      assert.deepEqual(headerValues(check, "x-gatehouse-forwarded-proto"), values === "" ? [] : [values]);
      assert.equal(check?.attributes.contextExtensions["gatehouse_forwarded_proto"], "copied");
      assert.equal(gateway.upstream.seen.at(-1)?.headers["x-gatehouse-forwarded-proto"], undefined);
    }
  });

  it("makes the request id itself and returns it, whoever the peer is", async () => {
    for (const more of [{}, { "x-forwarded-for": "10.0.0.1" }]) {
      gateway.authz.checks.length = 0;
      gateway.upstream.seen.length = 0;
      gateway.upstream.answer = (_, response) => response.setHeader("x-request-id", "application's").end();
      const answer = await send(gateway.port, "/a", { headers: { "x-request-id": "chosen", ...more } });
      const id = answer.headers["x-request-id"];
      assert.match(String(id), /^[0-9a-f-]{36}$/);
      assert.deepEqual(headerValues(gateway.authz.checks[0], "x-request-id"), [id]);
      assert.equal(gateway.upstream.seen[0]?.headers["x-request-id"], id);
      assert.equal(gateway.upstream.seen[0]?.headers["x-envoy-internal"], undefined);
    }
  });

  it("sends HSTS once with every answer and says nothing about the server", async () => {
    gateway.upstream.answer = (_, response) => {
      response
        .setHeader("server", "application/1.0")
        .setHeader("strict-transport-security", "max-age=1")
        .end();
    };
    const answers = [await send(gateway.port, "/a"), await send(gateway.port, "/a?b#c")];
    gateway.authz.decide = () => ({
      status: { code: 7 },
      deniedResponse: { status: { code: 403 }, body: "no" },
    });
    answers.push(await send(gateway.port, "/a"));
    gateway.authz.decide = () => ({ status: { code: 0 }, okResponse: {} });
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 403],
    );
    for (const { status, rawHeaders, headers } of answers) {
      const sent = rawHeaders.filter(
        (_, index) => rawHeaders[index - 1]?.toLowerCase() === "strict-transport-security",
      );
      assert.deepEqual(sent, ["max-age=31536000"], String(status));
      assert.equal(headers["server"], undefined);
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith("x-envoy")),
        [],
      );
    }
  });

  it("goes where exactly X-Backend-URL says, and does not pass it on", async () => {
    await send(gateway.port, "/a", { headers: { "x-backend-url": `http://127.0.0.1:${other.port}` } });
    assert.equal(other.seen.length, 1);
    assert.equal(other.seen[0]?.headers["x-backend-url"], undefined);
    assert.equal(gateway.upstream.seen.length, 0);
    assert.equal(headerValues(gateway.authz.checks[0], "x-backend-url").length, 1);
    // what is not exactly an entry is the service's to refuse; the default backend is where it would go otherwise
    await send(gateway.port, "/a", { headers: { "x-backend-url": `http://127.0.0.1:${other.port}/` } });
    assert.equal(other.seen.length, 1);
  });

  it("lets the application see the service's headers in place of the client's", async () => {
    gateway.authz.decide = () => ({
      status: { code: 0 },
      okResponse: {
        headers: [{ header: { key: "x-user-id", value: "u1" }, appendAction: "OVERWRITE_IF_EXISTS_OR_ADD" }],
        headersToRemove: ["x-user-token"],
      },
    });
    await send(gateway.port, "/a", { headers: { "x-user-id": "evil", "x-user-token": "t" } });
    assert.equal(gateway.upstream.seen[0]?.headers["x-user-id"], "u1");
    assert.equal(gateway.upstream.seen[0].headers["x-user-token"], undefined);
    gateway.authz.decide = () => ({ status: { code: 0 }, okResponse: {} });
  });

  it("turns down upgrades other than to WebSocket", async () => {
    const before = gateway.upstream.seen.length;
    for (const protocol of ["foo", "websocket2", "websocket, foo"]) {
      const upgrade = `GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
      const answer = await sendRaw(gateway.port, upgrade, (text) => text.includes("false}"));
      assert.match(answer, /^HTTP\/1.1 403 /);
      assert.match(answer, /"code":"UPGRADE_NOT_SUPPORTED"/);
    }
    // only GET can be a handshake, and only its route has the filters for what comes after it
    const post = "POST /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    assert.match(await sendRaw(gateway.port, post, (text) => text.includes("false}")), /^HTTP\/1.1 403 /);
    assert.equal(gateway.upstream.seen.length, before);
  });
});

describe("gateway and ambiguous requests", () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  beforeEach(() => {
    gateway.upstream.seen.length = 0;
    gateway.authz.checks.length = 0;
  });

  const refused: readonly (readonly [string, string])[] = [
    ["a fragment", get("/a#b")],
    ["* as a path", get("*").replace("GET", "OPTIONS")],
    ["a blank in the path", get("/a b")],
    ["two lengths", get("/a", "Content-Length: 1", "Content-Length: 2")],
    ["length and chunks", get("/a", "Content-Length: 1", "Transfer-Encoding: chunked")],
    ["a header with NUL", get("/a", "X-Nul: a\0b")],
    ["no host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"],
  ];
  for (const [name, bytes] of refused) {
    it(`refuses ${name} with 400`, async () => {
      assert.match(
        await sendRaw(gateway.port, bytes, (text) => text.includes("\r\n\r\n")),
        /^HTTP\/1.1 400 /,
      );
      assert.equal(gateway.authz.checks.length, 0);
      assert.equal(gateway.upstream.seen.length, 0);
    });
  }

  it("sets X-Forwarded-For to the peer's address, and copies what Envoy removes", async () => {
    const sent = [
      "X-Forwarded-For: 10.0.0.1",
      "X-Forwarded-Proto: https",
      "X-Gatehouse-Transfer-Encoding: x",
    ];
    await sendRaw(gateway.port, `${get("/a", ...sent, "Transfer-Encoding: chunked")}0\r\n\r\n`);
    const { headers } = gateway.upstream.seen[0]!;
    assert.deepEqual([headers["x-forwarded-for"], headers["x-forwarded-proto"]], ["127.0.0.1", "http"]);
    const [check] = gateway.authz.checks;
    assert.deepEqual(headerValues(check, "x-gatehouse-transfer-encoding"), ["chunked"]);
    for (const name of ["x-gatehouse-transfer-encoding", "x-envoy-external-address"])
      assert.equal(headers[name], undefined, name);
  });

  it("accepts 200 headers", async () => {
    const lines = (count: number) => Array.from({ length: count - 2 }, (_, index) => `x-${index}: y`);
    assert.match(await sendRaw(gateway.port, get("/a", ...lines(200))), /^HTTP\/1.1 200 /);
    assert.match(await sendRaw(gateway.port, get("/a", ...lines(201))), /^HTTP\/1.1 431 /);
  });

  it("forwards QUERY with its body, and trailers of the response", async () => {
    gateway.upstream.answer = (_, response) => {
      response.setHeader("trailer", "x-sum").write("found");
      response.addTrailers({ "x-sum": "1" });
      response.end();
    };
    const query = get("/a", "Content-Type: application/json", "Content-Length: 2").replace("GET", "QUERY");
    assert.match(await sendRaw(gateway.port, `${query}{}`), /\r\nfound\r\n0\r\nx-sum: 1\r\n\r\n$/);
    assert.deepEqual([gateway.upstream.seen[0]?.method, gateway.upstream.seen[0]?.bytes], ["QUERY", 2]);
  });

  it("lets the service see a name with an underscore, which it refuses", async () => {
    await sendRaw(gateway.port, get("/a", "X_Role: 1"));
    assert.deepEqual(headerValues(gateway.authz.checks[0], "x_role"), ["1"]);
  });

  it("lets the service see two hosts, which it refuses", async () => {
    await sendRaw(gateway.port, get("/a", "Host: other.test"));
    assert.deepEqual(headerValues(gateway.authz.checks[0], ":authority"), ["app.test,other.test"]);
  });

  for (const target of ["/a//b/./c/../d", "/a%2Fb%5c%2e%2E/%41?x=//..%2f&y", "//a\\b;c=1"]) {
    it(`hands over ${target} as it was sent, to service and application alike`, async () => {
      await sendRaw(gateway.port, get(target));
      assert.equal(gateway.authz.checks[0]?.attributes.request.http.path, target);
      assert.equal(gateway.upstream.seen[0]?.url, target);
    });
  }
});
