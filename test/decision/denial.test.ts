import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { renderDenial, type DenialInput } from "../../src/decision/denial.ts";
import { REASONS, type Reason } from "../../src/reasons.ts";

const NOW = Date.UTC(2025, 0, 2, 3, 4, 5, 678);

function render(change: Partial<DenialInput> = {}) {
  const { status, headers, body } = renderDenial({
    reason: "CONDITION_FALSE",
    requestId: "req-1",
    method: "GET",
    resource: "/api/customers/7",
    headers: {},
    details: "none",
    now: NOW,
    ...change,
  });
  assert.equal(new Set(headers.map(([name]) => name)).size, headers.length, "a header is given twice");
  return { status, headers: new Map(headers), body };
}

const denials = (Object.keys(REASONS) as Reason[]).filter((reason) => REASONS[reason].status >= 400);

describe("decision: denial", () => {
  it("is the error envelope, in JSON, by default", () => {
    const { status, headers, body } = render();
    assert.equal(status, 403);
    assert.deepEqual(JSON.parse(body), {
      success: false,
      error: { code: "ACCESS_DENIED", message: "access is denied", details: {} },
      meta: { timestamp: "2025-01-02T03:04:05.678Z", request_id: "req-1" },
    });
    assert.deepEqual(Object.fromEntries(headers), {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });

  it("says why when it may", () => {
    const { body } = render({ details: "reason" });
    assert.deepEqual((JSON.parse(body) as { error: unknown }).error, {
      code: "ACCESS_DENIED",
      message: "the rule's condition is false",
      details: { reason: "CONDITION_FALSE", resource: "/api/customers/7", action: "GET" },
    });
  });

  it("gives each reason its status and code, and reasons of one code cannot be told apart without details", () => {
    const bodies = new Map<string, string>();
    for (const reason of denials) {
      const { status, body } = render({ reason });
      const { error } = JSON.parse(body) as { error: { code: string } };
      assert.equal(status, REASONS[reason].status, reason);
      assert.equal(error.code, REASONS[reason].code, reason);
      const same = `${status} ${error.code}`;
      assert.equal(body, bodies.get(same) ?? body, reason);
      bodies.set(same, body);
    }
  });

  it("never answers an allow", () => {
    for (const reason of ["CONDITION_TRUE", "DEFAULT_ALLOW", "PREFLIGHT_ALLOWED"] as const) {
      const { status, body } = render({ reason });
      assert.equal(status, 500);
      assert.match(body, /"code":"INTERNAL_ERROR","message":"the decision failed"/);
    }
  });

  it("keeps hostile input inside its JSON string", () => {
    const hostile = '"}</script>\u2028\n\\\ud800';
    const { body } = render({ requestId: hostile, method: hostile, resource: hostile, details: "reason" });
    const parsed = JSON.parse(body) as { error: { details: object }; meta: { request_id: string } };
    assert.equal(parsed.meta.request_id, hostile);
    assert.deepEqual(parsed.error.details, { reason: "CONDITION_FALSE", resource: hostile, action: hostile });
  });

  it("echoes no more than a part of a very long path", () => {
    assert.ok(render({ resource: "/".repeat(100_000), details: "reason" }).body.length < 1_500);
  });

  describe("401", () => {
    const challenge = (change: Partial<DenialInput>) => render(change).headers.get("www-authenticate");

    it("asks for a bearer token, without an error where none was sent (RFC 6750, section 3)", () => {
      assert.equal(challenge({ reason: "IDENTITY_REQUIRED" }), 'Bearer realm="gatehouse"');
    });

    it("names the error of a bad token", () => {
      assert.equal(
        challenge({ reason: "TOKEN_EXPIRED" }),
        'Bearer realm="gatehouse", error="invalid_token", error_description="the token has expired"',
      );
      assert.equal(
        challenge({ reason: "TOKEN_PROOF_REQUIRED" }),
        'Bearer realm="gatehouse", error="invalid_token", ' +
          'error_description="the token is bound to a key whose possession was not proven"',
      );
      assert.equal(
        challenge({ reason: "TOKEN_SIGNATURE_INVALID" }),
        'Bearer realm="gatehouse", error="invalid_token", error_description="the token is not valid"',
      );
      assert.equal(
        challenge({ reason: "TOKEN_SIGNATURE_INVALID", details: "reason" }),
        `Bearer realm="gatehouse", error="invalid_token", error_description="the token's signature is not valid"`,
      );
    });

    it("takes a challenge from outside, made safe", () => {
      assert.equal(
        challenge({
          reason: "IDENTITY_REQUIRED",
          challenge: { error: "invalid_request", description: 'two "tokens"\r\n\\é' },
        }),
        'Bearer realm="gatehouse", error="invalid_request", error_description="two  tokens     "',
      );
    });

    it("is the only status with a challenge", () => {
      for (const reason of denials) {
        assert.equal(challenge({ reason }) !== undefined, REASONS[reason].status === 401, reason);
      }
      assert.equal(
        challenge({ reason: "CONDITION_FALSE", challenge: { error: "invalid_token", description: "" } }),
        undefined,
      );
    });
  });

  describe("negotiation (RFC 9110, section 12.5.1)", () => {
    const cases: readonly (readonly [accept: string[] | undefined, type: "html" | "json"])[] = [
      [undefined, "json"],
      [[], "json"],
      [[""], "json"],
      [["*/*"], "json"],
      [["application/json"], "json"],
      [["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"], "html"],
      [["text/html", "*/*;q=0.1"], "html"],
      [["text/html, application/json"], "json"],
      [["application/json;q=0.5, text/html;q=0.6"], "html"],
      [["application/json;q=0.6, text/html;q=0.5"], "json"],
      [["TEXT/HTML ; Q=1.000"], "html"],
      [["text/html;charset=utf-8"], "html"],
      [["text/*"], "html"],
      [["text/*, application/*"], "json"],
      [["text/*, text/html;q=0"], "json"],
      [["text/html;q=0, */*"], "json"],
      [["application/json;q=0, */*, text/plain"], "html"],
      [["text/html;q=0"], "json"],
      [["text/html;q=2"], "json"],
      [["text/html;q=0.1234"], "json"],
      [["text/html;q="], "json"],
      [["text/html;q=0.1, text/html;q=0.9, application/json;q=0.5"], "html"],
      [[`${"a/b,".repeat(600)}text/html`], "json"],
      [[`${"a/b,".repeat(60)}text/html`], "json"],
    ];
    for (const [accept, type] of cases) {
      it(`${accept?.join(" + ").slice(0, 80) ?? "no Accept"} gets ${type}`, () => {
        const { headers } = render({ headers: accept === undefined ? {} : { accept } });
        assert.equal(headers.get("content-type")?.includes("html") === true ? "html" : "json", type);
      });
    }

    it("is JSON where the request could not be read", () => {
      assert.equal(render({ headers: undefined }).headers.get("content-type"), "application/json");
    });
  });

  describe("page", () => {
    const page = (change: Partial<DenialInput> = {}) =>
      render({ headers: { accept: ["text/html"] }, ...change });

    it("shows what a person needs and nothing that may do harm", () => {
      const { headers, body } = page({
        requestId: "<script>alert('1')</script>",
        method: "G&T",
        resource: '/"><img src=x>\ud800',
        details: "reason",
      });
      assert.match(body, /^<!doctype html>.*<h1>Access denied<\/h1>.*<\/html>\n$/s);
      assert.match(body, /The rule&#39;s condition is false\./);
      assert.match(body, /&lt;script&gt;alert\(&#39;1&#39;\)/);
      assert.match(body, /G&amp;T \/&quot;&gt;&lt;img src=x&gt;\ufffd/);
      assert.doesNotMatch(body, /<script|<img|<link|https?:|url\(/);
      assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
    });

    it("keeps the reason to itself without details", () => {
      const { body } = page();
      assert.doesNotMatch(body, /CONDITION_FALSE|condition|customers/);
      assert.match(body, /<dd>ACCESS_DENIED<\/dd>/);
    });

    it("allows its own style sheet and nothing else", () => {
      const { headers, body } = page();
      const style = /<style>(.*)<\/style>/s.exec(body)?.[1] ?? "";
      const hash = createHash("sha256").update(style).digest("base64");
      assert.equal(
        headers.get("content-security-policy"),
        `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
      assert.doesNotMatch(body, / style=/);
    });

    it("is small, and has a title for every reason", () => {
      for (const reason of denials) {
        const { body } = page({ reason });
        assert.ok(body.length < 4_000);
        assert.match(body, /<title>[A-Z][^<]+<\/title>/);
      }
    });

    it("comes with a 401's challenge", () => {
      assert.ok(page({ reason: "TOKEN_EXPIRED" }).headers.has("www-authenticate"));
    });
  });

  it("has no body for HEAD, and the headers of GET", () => {
    for (const headers of [{}, { accept: ["text/html"] }]) {
      const head = render({ method: "HEAD", headers });
      assert.equal(head.body, "");
      assert.deepEqual(head.headers, render({ method: "GET", headers }).headers);
    }
  });

  describe("gRPC", () => {
    it("leaves the content type to Envoy and names a gRPC status", () => {
      const expected: Partial<Record<Reason, string>> = {
        AMBIGUOUS_PATH: "3",
        TOKEN_EXPIRED: "16",
        CONDITION_FALSE: "7",
        INTERNAL_ERROR: "13",
        POLICY_NOT_READY: "14",
      };
      for (const [reason, status] of Object.entries(expected)) {
        const { headers } = render({
          reason: reason as Reason,
          headers: { "content-type": ["application/grpc"], accept: ["text/html"] },
        });
        assert.equal(headers.get("grpc-status"), status, reason);
        assert.ok(!headers.has("content-type"));
      }
    });

    it("has a short message as its body", () => {
      const headers = { "content-type": ["application/grpc+proto"] };
      assert.equal(render({ headers }).body, "ACCESS_DENIED: access is denied");
      assert.equal(
        render({ headers, details: "reason" }).body,
        "ACCESS_DENIED: the rule's condition is false",
      );
    });

    it("is told by the content type alone", () => {
      for (const [type, expected] of [
        ["application/grpc", true],
        ["APPLICATION/GRPC; charset=utf-8", true],
        ["application/grpc+json", true],
        ["application/grpc-web+proto", false],
        ["application/json", false],
      ] as const) {
        assert.equal(
          render({ headers: { "content-type": [type] } }).headers.has("grpc-status"),
          expected,
          type,
        );
      }
    });
  });
});
