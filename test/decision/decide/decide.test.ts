import assert from "node:assert/strict";
import { PROXY_REASONS, REASONS, STATE_REASONS, type Reason } from "../../../src/reasons.ts";
import type { RefusalCheck } from "../../../src/request/index.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  UNUSED_VERIFIER,
  outcome,
  ruleOf,
  snapshotOf,
  useIssuer,
  verifierFor,
  type DeciderParts,
  type RequestParts,
} from "../support.ts";

const POLICIES = `
policies:
  - { resource: "GET /public", condition: "true" }
  - { resource: "GET /never", condition: request.method == "PUT" }
  - { resource: "GET /roles", condition: user.role == "admin" }
  - { resource: "GET /groups", condition: user.role == "admin" or "staff" in user.groups }
  - { resource: "GET /not-blocked", condition: not ("blocked" in user.groups) }
  - { resource: "GET /anyone", condition: not exists(user.id) or user.role == "admin" }
  - { resource: "OPTIONS /explicit", condition: "true" }
  - { resource: "* /all", condition: "true" }
  - { resource: "POST /body", condition: request.body.amount <= 10 }
  - { resource: "GET /Mixed/{id}", condition: "true" }
web_policies:
  - { path: /web/*, condition: "true" }
`;

describe("decision: decide", () => {
  const idp = useIssuer();
  const snapshot = snapshotOf(POLICIES);
  const seen = new Set<Reason>();

  const decide = async (
    parts: RequestParts,
    options: Partial<DeciderParts> = {},
    set: Snapshot | undefined = snapshot,
  ) => {
    const decision = await deciderOf(set, { verifier: idp.verifier, ...options })(accessOf(parts));
    seen.add(decision.reason);
    return decision;
  };
  const expect = async (expected: string, parts: RequestParts, options: Partial<DeciderParts> = {}) => {
    assert.equal(outcome(await decide(parts, options)), expected);
  };
  const withToken = async (claims = {}, header = {}) => [bearer(await idp.token(claims, header))] as const;

  describe("rules", () => {
    it("allows what its rule says is true", () => expect("ALLOW CONDITION_TRUE", { path: "/public" }));
    it("denies what no rule matches", () => expect("DENY NO_MATCHING_RULE", { path: "/nowhere" }));
    it("denies a method that no rule is for", () =>
      expect("DENY NO_MATCHING_RULE", { path: "/public", method: "POST" }));
    it("denies what is false", () => expect("DENY CONDITION_FALSE", { path: "/never" }));
    it("evaluates HEAD by the rule for GET", async () => {
      await expect("ALLOW CONDITION_TRUE", { path: "/public", method: "HEAD" });
      await expect("DENY CONDITION_FALSE", { path: "/never", method: "HEAD" });
    });
    it("allows by default only where the set says so, and only where no rule matches", async () => {
      const open = snapshotOf(`default: allow\n${POLICIES}`);
      assert.equal(outcome(await decide({ path: "/nowhere" }, {}, open)), "ALLOW DEFAULT_ALLOW");
      assert.equal(outcome(await decide({ path: "/never" }, {}, open)), "DENY CONDITION_FALSE");
      assert.equal(outcome(await decide({ path: "/roles" }, {}, open)), "DENY IDENTITY_REQUIRED");
      assert.equal(outcome(await decide({ path: "/mixed/1" }, {}, open)), "DENY AMBIGUOUS_CASE");
      assert.equal(outcome(await decide({ path: "/a//b" }, {}, open)), "DENY AMBIGUOUS_PATH");
    });
    it("refuses a path that differs from a guarded one in letter case, unless cases are different resources", async () => {
      await expect("DENY AMBIGUOUS_CASE", { path: "/PUBLIC" });
      await expect("DENY AMBIGUOUS_CASE", { path: "/mixed/7" });
      await expect("ALLOW CONDITION_TRUE", { path: "/Mixed/A" });
      const sensitive = snapshotOf(POLICIES, true);
      assert.equal(outcome(await decide({ path: "/PUBLIC" }, {}, sensitive)), "DENY NO_MATCHING_RULE");
      assert.equal(outcome(await decide({ path: "/public" }, {}, sensitive)), "ALLOW CONDITION_TRUE");
    });
    it("denies everything without a policy set, also what would be refused", async () => {
      const decideWithout = deciderOf(undefined, { verifier: idp.verifier });
      for (const path of ["/public", "/a//b"]) {
        const decision = await decideWithout(accessOf({ path }));
        seen.add(decision.reason);
        assert.equal(outcome(decision), "DENY POLICY_NOT_READY");
      }
    });
  });

  describe("identity", () => {
    it("denies without a token where the rule reads the user", () =>
      expect("DENY IDENTITY_REQUIRED", { path: "/roles" }));
    it("allows nobody where the rule is true without an identity", () =>
      expect("ALLOW CONDITION_TRUE", { path: "/anyone" }));
    it("allows, or denies with 403, who is known", async () => {
      const admin = await withToken({ role: "admin" });
      const viewer = await withToken({ role: "viewer" });
      const nothing = await withToken();
      await expect("ALLOW CONDITION_TRUE", { path: "/roles", headers: admin });
      await expect("DENY CONDITION_FALSE", { path: "/roles", headers: viewer });
      await expect("DENY CONDITION_UNKNOWN", { path: "/roles", headers: nothing });
      await expect("DENY CONDITION_FALSE", { path: "/anyone", headers: viewer });
      await expect("DENY CONDITION_UNKNOWN", { path: "/anyone", headers: nothing });
    });

    it("denies with its own reason where a rule needs groups that the token does not contain", async () => {
      const overage = { _claim_names: { groups: "src1" }, _claim_sources: {} };
      const headers = await withToken({ ...overage, role: "viewer" });
      for (const path of ["/groups", "/not-blocked"]) await expect("DENY CLAIM_OMITTED", { path, headers });
      await expect("ALLOW CONDITION_TRUE", {
        path: "/not-blocked",
        headers: await withToken({ groups: [] }),
      });
      const admin = { path: "/groups", headers: await withToken({ ...overage, role: "admin" }) };
      await expect("ALLOW CONDITION_TRUE", admin);
    });

    const now = () => Math.floor(Date.now() / 1000);
    const bad: readonly [Reason, () => Promise<string>][] = [
      ["TOKEN_MALFORMED", () => Promise.resolve("a.b.c")],
      ["TOKEN_TOO_LARGE", () => idp.token({ name: "x".repeat(20_000) })],
      [
        "TOKEN_ALGORITHM_NOT_ALLOWED",
        async () => {
          const [, payload = ""] = (await idp.token()).split(".");
          return `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
        },
      ],
      ["TOKEN_KEY_UNKNOWN", () => idp.token({}, { kid: "nobody's" })],
      [
        "TOKEN_SIGNATURE_INVALID",
        async () => {
          const [header, , signature] = (await idp.token()).split(".");
          const [, payload] = (await idp.token({ role: "admin" })).split(".");
          return `${header}.${payload}.${signature}`;
        },
      ],
      ["TOKEN_ISSUER_MISMATCH", () => idp.token({ iss: "http://elsewhere.test" })],
      ["TOKEN_AUDIENCE_MISMATCH", () => idp.token({ aud: "other" })],
      ["TOKEN_TYPE_NOT_ALLOWED", () => idp.token({}, { typ: "logout+jwt" })],
      ["TOKEN_CLAIMS_INVALID", () => idp.token({ sub: "" })],
      ["TOKEN_PROOF_REQUIRED", () => idp.token({ cnf: { jkt: "a-key" }, role: "admin" })],
      ["TOKEN_NOT_YET_VALID", () => idp.token({ nbf: now() + 3600 })],
      ["TOKEN_EXPIRED", () => idp.token({ iat: now() - 7200, exp: now() - 3600 })],
    ];
    for (const [reason, token] of bad) {
      it(`denies a bearer token with ${reason}, whatever the rule reads, twice`, async () => {
        const headers = [bearer(await token())];
        for (const path of ["/roles", "/anyone", "/public", "/nowhere", "/public"])
          await expect(`DENY ${reason}`, { path, headers });
        const open = snapshotOf("default: allow\npreflight: allow\npolicies: []");
        assert.equal(outcome(await decide({ headers }, {}, open)), `DENY ${reason}`);
      });
      it(`lets a cookie with ${reason} matter only where the rule reads who it is`, async () => {
        const headers = [["cookie", `theme=dark; session=${await token()}`]] as const;
        const cookie = "session";
        await expect("ALLOW CONDITION_TRUE", { path: "/public", headers }, { cookie });
        await expect("DENY NO_MATCHING_RULE", { path: "/nowhere", headers }, { cookie });
        await expect(`DENY ${reason}`, { path: "/roles", headers }, { cookie });
        await expect(`DENY ${reason}`, { path: "/anyone", headers }, { cookie });
      });
    }

    it("lets a cookie that holds no token, or is there twice, matter only where the rule reads who it is", async () => {
      const token = await idp.token({ role: "admin" });
      for (const value of ["session=two words", `session=${token}; session=${token}`]) {
        const headers = [["cookie", value]] as const;
        await expect("ALLOW CONDITION_TRUE", { path: "/public", headers }, { cookie: "session" });
        await expect("DENY TOKEN_MALFORMED", { path: "/roles", headers }, { cookie: "session" });
      }
      const headers = [["authorization", "Bearer two words"]] as const;
      await expect("DENY TOKEN_MALFORMED", { path: "/public", headers }, { cookie: "session" });
    });
    it("takes a good cookie for the caller, and a bearer token before it", async () => {
      const admin = await idp.token({ role: "admin" });
      const viewer = await idp.token({ role: "viewer" });
      const cookie = ["cookie", `session=${admin}`] as const;
      await expect("ALLOW CONDITION_TRUE", { path: "/roles", headers: [cookie] }, { cookie: "session" });
      await expect(
        "DENY CONDITION_FALSE",
        { path: "/roles", headers: [cookie, bearer(viewer)] },
        { cookie: "session" },
      );
      await expect("DENY IDENTITY_REQUIRED", { path: "/roles", headers: [cookie] });
    });
    it("takes no cookie for a request whose origin is not right", async () => {
      const cookie = ["cookie", `session=${await idp.token({ role: "admin" })}`] as const;
      const options = { cookie: "session", originCheck: () => "wrong" };
      await expect("DENY ORIGIN_NOT_TRUSTED", { path: "/roles", headers: [cookie] }, options);
    });
    it("takes X-User-Token from a trusted proxy only (specification 2.11)", async () => {
      const headers = [["x-user-token", await idp.token({ role: "admin" })]] as const;
      const frontProxy = { trustedProxies: ["10.0.0.0/8"], backends: [] };
      await expect("ALLOW CONDITION_TRUE", { path: "/roles", headers, peer: "10.1.2.3" }, { frontProxy });
      await expect("DENY IDENTITY_REQUIRED", { path: "/roles", headers, peer: "11.1.2.3" }, { frontProxy });
    });
    it("refuses a trusted proxy's token that is bound to a key", async () => {
      const token = await idp.token({ cnf: { "x5t#S256": "a-certificate" }, role: "admin" });
      const frontProxy = { trustedProxies: ["10.0.0.0/8"], backends: [] };
      for (const value of [token, `Bearer ${token}`]) {
        const headers = [["x-user-token", value]] as const;
        for (const path of ["/roles", "/public"])
          await expect("DENY TOKEN_PROOF_REQUIRED", { path, headers, peer: "10.1.2.3" }, { frontProxy });
      }
    });
    it("takes no token of the DPoP scheme for a bearer token", async () => {
      const frontProxy = { trustedProxies: ["10.0.0.0/8"], backends: [] };
      for (const token of [await idp.token({ role: "admin" }), await idp.token({ cnf: { jkt: "k" } })])
        for (const name of ["authorization", "x-user-token"])
          for (const scheme of ["DPoP", "dpop", "Bearer-DPoP"]) {
            const headers = [[name, `${scheme} ${token}`]] as const;
            await expect(
              "DENY IDENTITY_REQUIRED",
              { path: "/roles", headers, peer: "10.1.2.3" },
              { frontProxy },
            );
          }
    });
    it("keeps open rules open while there are no keys, and answers 503 for the others", async () => {
      const unready = verifierFor(idp.issuer); // never started
      const headers = await withToken({ role: "admin" });
      const options = { verifier: unready };
      await expect("ALLOW CONDITION_TRUE", { path: "/public", headers }, options);
      await expect("DENY NO_MATCHING_RULE", { path: "/nowhere", headers }, options);
      await expect("DENY IDENTITY_NOT_READY", { path: "/roles", headers }, options);
      await expect("DENY IDENTITY_NOT_READY", { path: "/anyone", headers }, options);
      await expect("DENY IDENTITY_REQUIRED", { path: "/roles" }, options);
      unready.close();
    });
  });

  describe("order", () => {
    it("refuses before it looks at the token, and denies a bad token before it looks for a rule", async () => {
      const headers = [bearer("no.token.really")];
      await expect("DENY AMBIGUOUS_PATH", { path: "/a/%2e%2e/public", headers });
      await expect("DENY TOKEN_MALFORMED", { path: "/PUBLIC", headers });
    });
    it("evaluates the front proxy's headers before everything else", async () => {
      const headers = [["x-backend-url", "http://b.test"]] as const;
      await expect("DENY UNTRUSTED_PROXY_HEADER", { path: "/a//b", headers });
      const frontProxy = { trustedProxies: ["127.0.0.1"], backends: ["http://a.test"] };
      await expect("DENY UNKNOWN_BACKEND", { path: "/a//b", headers }, { frontProxy });
      const contradictory = [["x-forwarded-proto", "http,https"]] as const;
      await expect("DENY AMBIGUOUS_FORWARDING", { path: "/a//b", headers: contradictory }, { frontProxy });
    });
    it("refuses a body only where the rule reads it", async () => {
      const body = '{"amount":1,"amount":100}';
      const headers = [["content-type", "application/json"]] as const;
      await expect("DENY AMBIGUOUS_BODY", { path: "/body", method: "POST", headers, body });
      await expect("ALLOW CONDITION_TRUE", { path: "/all", method: "POST", headers, body });
    });
  });

  it("names the refusing check, and reports what is switched off", async () => {
    const refused = await decide({ path: "/public;v=1" });
    assert.equal(outcome(refused), "DENY AMBIGUOUS_PATH");
    assert.match(refused.detail ?? "", /^path_parameter: /);
    const check: RefusalCheck = "path_parameter";
    const accepted = await decide({ path: "/web/x;v=1" }, { accept: { switchedOff: new Set([check]) } });
    assert.equal(outcome(accepted), "ALLOW CONDITION_TRUE");
    assert.deepEqual(accepted.accepted, [check]);
    await expect("DENY AMBIGUOUS_METHOD", {
      path: "/public",
      headers: [["x-http-method-override", "DELETE"]],
    });
    await expect("DENY AMBIGUOUS_HEADERS", { path: "/public", headers: [["x_user", "1"]] });
    await expect("DENY AMBIGUOUS_QUERY", { path: "/public?a=1;b=2" });
  });

  it("takes its snapshot once: a set that changes meanwhile changes no decision under way", async () => {
    let current = snapshotOf(ruleOf('user.role == "admin"'));
    const fresh = verifierFor(idp.issuer);
    await fresh.start();
    const decider = deciderOf(undefined, {
      verifier: fresh,
      policies: () => ({ main: current, customers: new Map() }),
    });
    const before = current;
    const answer = decider(accessOf({ headers: await withToken({ role: "viewer" }) }));
    assert.ok(answer instanceof Promise, "the token was not known yet");
    current = snapshotOf(ruleOf("true"));
    const decision = await answer;
    assert.equal(outcome(decision), "DENY CONDITION_FALSE");
    assert.equal(decision.snapshot, before);
    fresh.close();
  });

  it("tells the verifier the client's network, not the proxy's", async () => {
    const snapshot = snapshotOf(ruleOf("true"));
    const sources: (string | undefined)[] = [];
    const refused = { ok: false, reason: "TOKEN_MALFORMED", detail: "" } as const;
    const verify = (_token: string, source?: string) => {
      sources.push(source);
      return Promise.resolve(refused);
    };
    const decider = deciderOf(snapshot, {
      verifier: { ...UNUSED_VERIFIER, cached: () => undefined, verify, ready: () => true },
      frontProxy: { trustedProxies: ["10.0.0.0/8"], backends: [] },
    });
    const headers: [string, string][] = [["authorization", "Bearer made-up"]];
    for (const client of ["203.0.113.7", "2001:db8:0:1:2:3:4:5", "2001:db8:0:1:9::1"])
      await decider({ ...accessOf({ headers: [...headers, ["x-real-ip", client]] }), peer: "10.0.0.1" });
    assert.deepEqual(sources, ["203.0.113.7", "2001:db8:0:1", "2001:db8:0:1"]);
  });

  describe("all of it", () => {
    it("has met every reason that `decide` can give", () => {
      const elsewhere: Reason[] = [
        "AUDIT_UNAVAILABLE", // the decision point, as the next two
        "DEADLINE_EXCEEDED",
        "INTERNAL_ERROR",
        ...(["CONNECTION_ENDED", "CONNECTION_HELD"] as const), // identify-connection.test.ts, hold-connection.test.ts
        "TOO_MANY_CONNECTIONS", // the door, as the next three
        "TOO_MANY_CONNECTIONS_OF_USER",
        "PLAN_NOT_ENFORCEABLE",
        "PRECONDITION_NOT_SUPPORTED",
        ...PROXY_REASONS, // access-log-refusal.test.ts
        ...(["TOKEN_FOREIGN", "API_KEY_INVALID", "API_KEY_NOT_CHECKED"] as const), // test/identity, token-sources.test.ts
        "BODY_NEEDED", // bodies.test.ts, as the next two
        "BODY_TOO_LARGE",
        "BODY_UNAVAILABLE",
        ...STATE_REASONS, // check-session.test.ts, as the next one
        "POLICY_SETS_CONFLICT",
        "GRAPHQL_ALLOWED", // decide-graphql.test.ts, as the next four
        "GRAPHQL_CONNECTION",
        "GRAPHQL_DENIED",
        "GRAPHQL_LIMIT_EXCEEDED",
        "GRAPHQL_MALFORMED",
        "PERSISTED_QUERY_NOT_FOUND", // graphql/persisted.test.ts, as the next one
        "PERSISTED_QUERY_NOT_SUPPORTED",
        ...(["PREFLIGHT_ALLOWED", "PREFLIGHT_DENIED", "PREFLIGHT_MALFORMED"] as const), // preflight.test.ts
        ...(["PREFLIGHT_ANSWERED", "PREFLIGHT_ORIGIN_NOT_ALLOWED"] as const), // as these
      ];
      const all = Object.keys(REASONS) as Reason[];
      assert.deepEqual(all.filter((reason) => !seen.has(reason)).sort(), elsewhere.sort());
    });
  });
});
