import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { renderDenial, type DenialInput } from "../../../src/decision/denial/denial.ts";
import { REASONS, type Reason } from "../../../src/reasons.ts";
import { factsOf, parseHtml } from "../../support/html.ts";

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
      vary: "accept",
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
          'error_description="the token is bound to a key, and the request does not prove possession of it"',
      );
      assert.equal(
        challenge({ reason: "TOKEN_SIGNATURE_INVALID" }),
        'Bearer realm="gatehouse", error="invalid_token", error_description="the token is invalid"',
      );
      assert.equal(
        challenge({ reason: "TOKEN_SIGNATURE_INVALID", details: "reason" }),
        `Bearer realm="gatehouse", error="invalid_token", error_description="the token's signature is invalid"`,
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
      [['text/html;x="a, application/json";q=0.8, application/json;q=0.9'], "json"],
      [['text/html;x="\\", application/json;q=0.9, \\""'], "html"],
      [['text/html;x=";q=0", application/json;q=0.9'], "html"],
      [['text/html;x="'], "html"],
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
      const hostile = {
        requestId: "<script>alert('1')</script>",
        method: "G&T",
        resource: '/"><img src=x>\ud800',
      };
      const { headers, body } = page({ ...hostile, details: "reason" });
      assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
      const elements = parseHtml(body);
      assert.deepEqual(
        elements.map(({ name }) => name).filter((name) => !["dt", "dd"].includes(name)),
        ["html", "head", "meta", "meta", "meta", "title", "style", "body", "main", "h1", "p", "h2", "dl"],
      );
      assert.equal(elements.find(({ name }) => name === "h1")?.text, "You cannot open this page");
      assert.deepEqual(factsOf(elements), {
        Status: "403",
        Code: "ACCESS_DENIED",
        Reason: "CONDITION_FALSE",
        Request: `${hostile.method} ${hostile.resource.toWellFormed()}`,
        Meaning: "the rule's condition is false",
        "Request ID": hostile.requestId,
        Time: "2025-01-02T03:04:05.678Z",
      });
    });

    it("keeps the reason to itself without details", () => {
      const { body } = page();
      assert.doesNotMatch(body, /CONDITION_FALSE|condition|customers/);
      assert.equal(factsOf(parseHtml(body))["Code"], "ACCESS_DENIED");
    });

    it("says the same to people for all reasons of one code without details", () => {
      const bodies = new Map<string, string>();
      for (const reason of denials) {
        const { body } = page({ reason });
        const { status, code } = REASONS[reason];
        const same = `${status} ${code}`;
        assert.equal(body, bodies.get(same) ?? body, reason);
        bodies.set(same, body);
      }
    });

    describe("leads to sign in", () => {
      const linkOf = (
        change: Partial<DenialInput>,
        url = "/login?next={return_to}&x=1",
        target = "/api/customers/7",
      ) =>
        parseHtml(page({ reason: "IDENTITY_REQUIRED", signIn: { url, target }, ...change }).body).find(
          ({ name }) => name === "a",
        )?.attributes["href"];

      it("for every 401, and for nothing else", () => {
        for (const reason of denials)
          assert.equal(linkOf({ reason }) !== undefined, REASONS[reason].status === 401, reason);
        assert.equal(linkOf({ headers: { accept: ["*/*"] } }), undefined);
      });

      it("with the way back, path and query as they were asked for", () => {
        assert.equal(linkOf({}), "/login?next=%2Fapi%2Fcustomers%2F7&x=1");
        const query = linkOf({}, undefined, "/api/customers/7?a=%26&b=c");
        assert.equal(query, "/login?next=%2Fapi%2Fcustomers%2F7%3Fa%3D%2526%26b%3Dc&x=1");
        assert.equal(linkOf({}, "https://login.test/"), "https://login.test/");
        assert.equal(linkOf({}, `/login?a="&next={return_to}`), '/login?a="&next=%2Fapi%2Fcustomers%2F7');
      });

      it("never to another site, whatever the path", () => {
        const back = (change: Partial<DenialInput>, target?: string) =>
          new URL(linkOf(change, undefined, target) ?? "", "https://app.test").searchParams.get("next");
        for (const resource of [
          "//evil.test/a",
          "/\\evil.test",
          "/\\/evil.test",
          "",
          "*",
          "https://evil.test",
          "/a\\b",
          "/\t/evil.test",
        ])
          assert.equal(back({ resource }), "/", resource);
        assert.equal(back({ method: "POST" }), "/");
        assert.equal(back({ resource: `/${"a".repeat(3_000)}` }), "/");
        for (const target of ["/x?a b", "/x?\u00e9", `/x?${"a".repeat(3_000)}`])
          assert.equal(back({}, target), "/api/customers/7");
        assert.equal(back({}, "//evil.test/?$&{return_to}"), "/api/customers/7?$&{return_to}");
      });
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
});
