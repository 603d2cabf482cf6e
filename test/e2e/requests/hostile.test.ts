import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import {
  bearer,
  startGuardedApplication,
  type GuardedApplication,
} from "../../support/upstreams/guarded-application.ts";
import { rawGet } from "../../support/raw-http.ts";

describe("end to end: hostile requests through Envoy", () => {
  let application: GuardedApplication;
  before(async () => {
    application = await startGuardedApplication();
  });
  after(() => application.stop());
  const send = (request: string) => application.send(request);

  describe("path confusions: nothing of /admin is reached by way of /public", () => {
    const spellings = [
      "/public/../admin/x",
      "/public/%2e%2e/admin/x",
      "/public/.%2e/admin/x",
      "/public/%2E./admin/x",
      "/public/..%2fadmin/x",
      "/public/..%2Fadmin/x",
      "/public%2f..%2fadmin/x",
      "/public/..%5cadmin/x",
      "/public/..\\admin/x",
      "\\admin\\x",
      "/public/%252e%252e/admin/x",
      "/public/%252e%252e%252fadmin/x",
      "/public/..;/admin/x",
      "/public/..;x=1/admin/x",
      "/public/%2e%2e;/admin/x",
      "/public/..%3b/admin/x",
      "/public/..%00/admin/x",
      "/public/%00/../admin/x",
      "/public/..%0d%0a/admin/x",
      "/public/..%09/admin/x",
      "//admin/x",
      "///admin///x",
      "/./admin/x",
      "/admin/./x",
      "/public/./../admin/x",
      "/public/%c0%ae%c0%ae/admin/x",
      "/public/%c0%af../admin/x",
      "/public/%e0%80%ae%e0%80%ae/admin/x",
      "/public/%ef%bc%8e%ef%bc%8e/admin/x",
      "/public/..%ef%bc%8fadmin/x",
      "/public/%u002e%u002e/admin/x",
      "/public/%2/admin",
      "/public/%",
      "/public/%zz",
      "/public/a%23/../../admin",
      "/public/x#/../../admin/x",
      "/public/x%3f/../../admin/x",
      "/ADMIN/x",
      "/Admin/x",
      "/%41dmin/x",
      "/adm%69n/x",
      "/admin",
      "/admin/",
      "/admin;/x",
      "/admin%20/x",
      "/admin%00/x",
      "/admin/x%0a",
      "/PUBLIC/../admin/x",
      "/public/..%c0%2fadmin/x",
      "http://app.test/admin/x",
      "http://evil.test/public/../admin/x",
      "*",
      "admin/x",
      "/public/\u00e9/../../admin/x",
      "/public/..%2e%2f/admin/x",
      "/public/%2e%2e%2fadmin/x",
      "/public/.%00./admin/x",
      "/public/%5c..%5cadmin/x",
      `/public/${"../../".repeat(200)}admin/x`,
      `/${"a/".repeat(300)}../admin/x`,
      `/public/${"x".repeat(70_000)}`,
    ];
    for (const target of spellings) {
      it(JSON.stringify(target.length > 60 ? `${target.slice(0, 57)}...` : target), async () => {
        const { status, passed } = await send(rawGet(target));
        assert.ok(status >= 400 && status < 500, `status ${status}`);
        assert.equal(passed, 0);
      });
    }

    it("evaluates and forwards one and the same path, or refuses it: nothing is normalized", async () => {
      for (const target of [
        "/public//../admin/x",
        "/public//x",
        "/public/./x",
        "/public/x/..",
        "/%70ublic/x",
      ]) {
        const { status, body, passed } = await send(rawGet(target));
        assert.deepEqual([status, passed], [400, 0], target);
        assert.match(body, /AMBIGUOUS_PATH/);
      }
      assert.equal((await send(rawGet("/public/a%40~b?x=//..%2f"))).status, 200);
      assert.equal(application.upstream.seen.at(-1)!.url, "/public/a%40~b?x=//..%2f");
    });

    it("leaves alone what only looks strange", async () => {
      for (const target of [
        "/public/a..b",
        "/public/..a",
        "/public/100%25",
        "/public/caf%C3%A9",
        "/public/a:b@c,d",
        "/public/",
      ]) {
        assert.equal((await send(rawGet(target))).status, 200, target);
      }
    });
  });

  describe("methods", () => {
    for (const [method, headers] of [
      ["GET", ["X-HTTP-Method-Override: DELETE"]],
      ["GET", ["X-Method-Override: DELETE"]],
      ["GET", ["X-HTTP-Method: DELETE"]],
      ["get", []],
      ["TRACE", []],
      ["CONNECT", []],
      ["POST", ["Content-Length: 0"]],
      ["G\u0000T", []],
    ] as const) {
      it(`${JSON.stringify(method)} ${headers.join(" ")}`, async () => {
        const { status, passed } = await send(rawGet("/public/x", headers, method));
        assert.ok(status >= 400 && status < 500, `status ${status}`);
        assert.equal(passed, 0);
      });
    }

    it("evaluates HEAD as GET", async () => {
      assert.equal((await send(rawGet("/public/x", [], "HEAD"))).status, 200);
      assert.equal((await send(rawGet("/admin/x", [], "HEAD"))).status, 401);
    });

    it("denies a CORS preflight by default and says how to allow it", async () => {
      const preflight = ["Origin: http://a.test", "Access-Control-Request-Method: GET"];
      const { status, body, passed } = await send(rawGet("/public/x", preflight, "OPTIONS"));
      assert.deepEqual([status, passed], [403, 0]);
      assert.match(body, /preflight: allow/);
    });
  });

  describe("headers", () => {
    it("replaces forged identity headers, in every spelling that reaches it", async () => {
      const token = await application.issuer.token({ sub: "u-9", role: "viewer", customer_id: "c-9" });
      const forged = [
        "X-User-Id: root",
        "X-USER-ROLE: admin",
        "x-user-role: owner",
        "X-User-Permissions: all",
        "X-Customer-Id: c-1",
      ];
      const { status } = await send(rawGet("/customers/c-9", [bearer(token), ...forged]));
      assert.equal(status, 200);
      const { rawHeaders } = application.upstream.seen.at(-1)!;
      const seen = rawHeaders.flatMap((name, index) =>
        index % 2 === 0 ? [`${name.toLowerCase()}=${rawHeaders[index + 1]}`] : [],
      );
      assert.deepEqual(seen.filter((pair) => /^x-(user|customer)-/.test(pair)).sort(), [
        "x-customer-id=c-9",
        "x-user-id=u-9",
        "x-user-role=viewer",
      ]);
    });

    it("removes forged identity headers where nobody is signed in", async () => {
      await send(
        rawGet("/public/x", [
          "X-User-Id: root",
          "X-User-Role: admin",
          "X-Real-IP: 10.0.0.1",
          "X-User-Token: t",
        ]),
      );
      const names = Object.keys(application.upstream.seen.at(-1)!.headers);
      assert.deepEqual(
        names.filter((name) => /^x-(user|customer|real)/.test(name)),
        [],
      );
    });

    it("lets no request leave HTTP by an upgrade but to WebSocket", async () => {
      for (const protocol of ["h2c", "TLS/1.0", "h2c, websocket"]) {
        const { status, passed } = await send(
          rawGet("/public/x", ["Connection: Upgrade", `Upgrade: ${protocol}`]),
        );
        assert.ok(
          passed === 0 ? status >= 400 : application.upstream.seen.at(-1)!.headers["upgrade"] === undefined,
          protocol,
        );
      }
    });

    it("refuses an underscore, which some servers read as a dash", async () => {
      const { status, passed } = await send(rawGet("/public/x", ["X_User_Role: admin"]));
      assert.deepEqual([status, passed], [400, 0]);
    });

    const token = () => application.issuer.token({ role: "admin" });
    it("refuses a repeated Authorization header", async () => {
      const { status, passed } = await send(
        rawGet("/admin/x", [bearer(await token()), "Authorization: Basic eDp5"]),
      );
      assert.deepEqual([status, passed], [400, 0]);
    });

    it("refuses two Hosts, and lengths that contradict each other", async () => {
      for (const headers of [
        ["Host: other.test"],
        ["Content-Length: 1", "Content-Length: 2"],
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding : chunked"],
      ]) {
        const { status, passed } = await send(rawGet("/public/x", headers));
        assert.ok(status >= 400 && status <= 501, `${headers.join()}: ${status}`);
        assert.equal(passed, 0);
      }
    });

    it("does not take a header's bytes that are not UTF-8 for something else", async () => {
      const { status, passed } = await send(rawGet("/beta", ["X-Beta: \xff\xfe"]));
      assert.ok(status === 400 || status === 403, String(status));
      assert.equal(passed, 0);
      assert.equal((await send(rawGet("/beta", ["X-Beta: no, yes"]))).status, 403);
      assert.equal((await send(rawGet("/beta", ["X-Beta: no", "X-Beta: yes"]))).status, 200);
    });

    it("refuses X-Backend-URL from somebody who is not a trusted proxy", async () => {
      const { status, body, passed } = await send(rawGet("/public/x", ["X-Backend-URL: http://127.0.0.1:1"]));
      assert.deepEqual([status, passed], [400, 0]);
      assert.match(body, /UNTRUSTED_PROXY_HEADER/);
    });
  });

  // a suite of its own, so that it runs after the others
  describe("afterwards", () => {
    it("has recorded every one of these decisions, in printable text", async () => {
      const records = await eventually("the last record", async () => {
        const lines = await application.gateway.audit();
        return (
          lines.filter(({ decision }) => decision === "ALLOW").length >= application.upstream.seen.length &&
          lines
        );
      });
      assert.ok(records.length > 50);
      for (const record of records) {
        assert.match(JSON.stringify(record), /^[\x20-\x7e\u00a1-\uffff]*$/);
        assert.ok(record.decision === "ALLOW" || record.decision === "DENY");
      }
      const allowed = records.filter(({ decision }) => decision === "ALLOW").length;
      assert.equal(allowed, application.upstream.seen.length);
    });
  });
});
