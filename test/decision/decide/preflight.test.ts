import assert from "node:assert/strict";
import { joinPlans } from "../../../src/decision/decide/join-plans.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  outcome,
  snapshotOf,
  verifierFor,
  type RequestParts,
} from "../support.ts";

const OPEN = snapshotOf(`
preflight: allow
policies:
  - { resource: "GET /staff", condition: user.role == "admin" }
  - { resource: "OPTIONS /explicit", condition: exists(user.id) }
  - { resource: "* /all", condition: "true" }
  - { resource: "GET /public", condition: "true" }
`);
const CLOSED = snapshotOf(`
policies:
  - { resource: "* /all", condition: "true" }
  - { resource: "GET /public", condition: "true" }
  - { resource: "OPTIONS /preflight", condition: "true" }
`);
type Headers = readonly (readonly [string, string])[];
const ORIGIN = ["origin", "https://app.test"] as const;
const METHOD = ["access-control-request-method", "PUT"] as const;

describe("decision: CORS preflights", () => {
  let issuer: TestIssuer;
  let verifier: ReturnType<typeof verifierFor>;
  before(async () => {
    issuer = await startIssuer();
    verifier = verifierFor(issuer);
    await verifier.start();
  });
  after(async () => {
    verifier.close();
    await issuer.close();
  });
  const ask = async (headers: Headers, body = "", path = "/staff", set = OPEN) =>
    deciderOf(set, { verifier })(accessOf({ method: "OPTIONS", path, headers, body }));

  it("pass with a plan that leaves nothing but CORS of the answer, whatever the path", async () => {
    for (const path of ["/staff", "/nowhere"]) {
      const decision = await ask([ORIGIN, METHOD], "", path);
      assert.equal(outcome(decision), "ALLOW PREFLIGHT_ALLOWED");
      assert.deepEqual(decision.plan, { ir: 1, preflight: true });
    }
  });

  it("are denied unless the set allows them, also by a rule for any method", async () => {
    for (const path of ["/public", "/all", "/nowhere"]) {
      assert.equal(outcome(await ask([ORIGIN, METHOD], "", path, CLOSED)), "DENY PREFLIGHT_DENIED");
      assert.equal(outcome(await ask([ORIGIN, METHOD], "", path)), "ALLOW PREFLIGHT_ALLOWED");
    }
  });

  it("are evaluated by a rule for OPTIONS where there is one", async () => {
    assert.equal(outcome(await ask([ORIGIN, METHOD], "", "/preflight", CLOSED)), "ALLOW CONDITION_TRUE");
    const other = snapshotOf(
      'preflight: allow\npolicies:\n  - { resource: "OPTIONS /staff", condition: request.method == "GET" }',
    );
    assert.equal(outcome(await ask([ORIGIN, METHOD], "", "/staff", other)), "DENY CONDITION_FALSE");
  });

  it("are what the Fetch standard calls so, and no other requests", async () => {
    for (const few of [[], [ORIGIN], [METHOD]])
      assert.equal(outcome(await ask(few)), "DENY NO_MATCHING_RULE");
    for (const method of ["GET", "options"]) {
      const access = accessOf({ method, path: "/staff", headers: [ORIGIN, METHOD] });
      assert.notEqual(outcome(await deciderOf(OPEN, { verifier })(access)), "ALLOW PREFLIGHT_ALLOWED");
    }
  });

  it("are refused where their path is ambiguous", async () => {
    assert.equal(outcome(await ask([ORIGIN, METHOD], "", "/ALL")), "DENY AMBIGUOUS_CASE");
    assert.equal(outcome(await ask([ORIGIN, METHOD], "", "/a/../all")), "DENY AMBIGUOUS_PATH");
  });

  it("are nobody's, whoever sends a token along", async () => {
    const decision = await ask([ORIGIN, METHOD, bearer(await issuer.token({ role: "admin" }))]);
    assert.deepEqual([outcome(decision), decision.identity], ["ALLOW PREFLIGHT_ALLOWED", undefined]);
  });

  const wellFormed: Readonly<Record<string, Headers>> = {
    "an opaque origin": [["origin", "null"], METHOD],
    "a port": [["origin", "http://localhost:3000"], METHOD],
    IPv6: [["origin", "http://[::1]:3000"], METHOD],
    "an extension": [["origin", "moz-extension://5e5c6d5f-1b"], METHOD],
    "a file": [["origin", "file://"], METHOD],
    headers: [ORIGIN, METHOD, ["access-control-request-headers", "authorization, x-a,content-type"]],
    "no headers": [ORIGIN, METHOD, ["access-control-request-headers", ""]],
    "a private network": [ORIGIN, METHOD, ["access-control-request-private-network", "true"]],
    "a length of nothing": [ORIGIN, METHOD, ["content-length", "0"]],
  };
  for (const [name, headers] of Object.entries(wellFormed))
    it(`may have ${name}`, async () => {
      assert.equal(outcome(await ask(headers)), "ALLOW PREFLIGHT_ALLOWED");
    });

  const malformed: Readonly<Record<string, Headers>> = {
    "two origins": [ORIGIN, ORIGIN, METHOD],
    "two origins in one header": [["origin", "https://a.test, https://b.test"], METHOD],
    "two origins without a comma": [["origin", "https://a.test https://b.test"], METHOD],
    "no origin": [["origin", ""], METHOD],
    "an origin with a path": [["origin", "https://a.test/"], METHOD],
    "an origin without a scheme": [["origin", "a.test"], METHOD],
    "an origin with a user": [["origin", "https://u@a.test"], METHOD],
    "two methods": [ORIGIN, METHOD, METHOD],
    "two methods in one header": [ORIGIN, ["access-control-request-method", "PUT, GET"]],
    "no method": [ORIGIN, ["access-control-request-method", ""]],
    "a method that is no token": [ORIGIN, ["access-control-request-method", "P(UT)"]],
    "lists of headers": [
      ORIGIN,
      METHOD,
      ["access-control-request-headers", "a"],
      ["access-control-request-headers", "b"],
    ],
    "headers that are no tokens": [ORIGIN, METHOD, ["access-control-request-headers", "a b: c"]],
    "a length": [ORIGIN, METHOD, ["content-length", "7"]],
  };
  for (const [name, headers] of Object.entries(malformed))
    it(`are refused with ${name}, also where all is allowed`, async () => {
      const open = snapshotOf("default: allow\npreflight: allow\npolicies: []");
      for (const set of [OPEN, open])
        assert.equal(outcome(await ask(headers, "", "/staff", set)), "DENY PREFLIGHT_MALFORMED");
      const closed = snapshotOf("default: allow\npolicies: []");
      assert.equal(outcome(await ask(headers, "", "/staff", closed)), "DENY PREFLIGHT_DENIED");
    });

  it("are refused with a body, whatever the headers say of it", async () => {
    for (const length of [[], [["content-length", "0"]], [["content-length", "5"]]] as const)
      assert.equal(outcome(await ask([ORIGIN, METHOD, ...length], "a=b&c")), "DENY PREFLIGHT_MALFORMED");
  });

  it("need a body that was handed over, and is empty", async () => {
    const cases: readonly (readonly [parts: Partial<RequestParts>, expected: string])[] = [
      [{ body: null, bodies: "on_request" }, "DENY BODY_NEEDED"],
      [{ body: null }, "DENY BODY_UNAVAILABLE"],
      [{ body: "", complete: false, bodies: "handed_over" }, "DENY PREFLIGHT_MALFORMED"],
      [{ body: "", bodies: "handed_over" }, "ALLOW PREFLIGHT_ALLOWED"],
    ];
    for (const [parts, expected] of cases) {
      const access = accessOf({ method: "OPTIONS", path: "/staff", headers: [ORIGIN, METHOD], ...parts });
      assert.equal(outcome(await deciderOf(OPEN, { verifier })(access)), expected);
    }
  });

  it("are evaluated by a rule for OPTIONS where there is one", async () => {
    assert.equal(outcome(await ask([ORIGIN, METHOD], "", "/explicit")), "DENY IDENTITY_REQUIRED");
  });

  describe("that the gateway answers itself", () => {
    const CORS = `cors: { origins: ["https://app.test"], credentials: true }\n`;
    const answering = snapshotOf(
      `${CORS}default: allow\npolicies:\n  - { resource: OPTIONS /explicit, condition: true }`,
    );
    const asked = async (headers: Headers, path?: string, set = answering) =>
      outcome(await ask(headers, "", path, set));

    it("are for no application: every origin is denied, a listed one with an answer", async () => {
      for (const path of ["/staff", "/nowhere", "/graphql"])
        assert.equal(await asked([ORIGIN, METHOD], path), "DENY PREFLIGHT_ANSWERED");
      for (const other of ["https://evil.test", "http://app.test", "https://app.test:444", "null"])
        assert.equal(await asked([["origin", other], METHOD]), "DENY PREFLIGHT_ORIGIN_NOT_ALLOWED", other);
      for (const [name, headers] of Object.entries(malformed))
        assert.equal(await asked(headers), "DENY PREFLIGHT_MALFORMED", name);
    });

    it("need no body, and are nobody's", async () => {
      const access = { method: "OPTIONS", path: "/staff", headers: [ORIGIN, METHOD], body: null } as const;
      const decision = await deciderOf(answering, { verifier })(
        accessOf({ ...access, bodies: "on_request" }),
      );
      assert.equal(outcome(decision), "DENY PREFLIGHT_ANSWERED");
    });

    it("are forwarded as before by a rule for OPTIONS, and with `preflight: allow`", async () => {
      assert.equal(await asked([ORIGIN, METHOD], "/explicit"), "ALLOW CONDITION_TRUE");
      const open = snapshotOf(`${CORS}preflight: allow\npolicies: []`);
      for (const origin of [ORIGIN, ["origin", "https://evil.test"]] as const)
        assert.equal(await asked([origin, METHOD], "/staff", open), "ALLOW PREFLIGHT_ALLOWED");
    });

    it("take equal origins for equal, however they are spelled", async () => {
      for (const origin of ["https://app.test:443", "HTTPS://App.Test"])
        assert.equal(await asked([["origin", origin], METHOD]), "DENY PREFLIGHT_ANSWERED", origin);
    });
  });

  it("stay bare where another policy set plans something for the answer", () => {
    const preflight = { ir: 1, preflight: true } as const;
    const other = { ir: 1, response: { limit: 10, fields: [] } };
    for (const joined of [
      joinPlans(preflight, other),
      joinPlans(other, preflight),
      joinPlans(preflight, undefined),
    ])
      assert.equal(joined?.preflight, true);
  });
});
