import assert from "node:assert/strict";
import { createOriginCheck } from "../../../src/decision/decide/origin-check.ts";
import { createUpstreamHeaders } from "../../../src/decision/point/upstream-headers.ts";
import { createForgedHeaders } from "../../../src/decision/headers/forged-headers.ts";
import type { Decision } from "../../../src/decision/types.ts";
import type { TokenSources } from "../../../src/identity/index.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  outcome,
  snapshotOf,
  useIssuer,
  verifierFor,
  type RequestParts,
} from "../support.ts";

const POLICIES = `
policies:
  - { resource: "GET /public", condition: "true" }
  - { resource: "* /roles", condition: user.role == "admin" }
  - { resource: "GET /anyone", condition: not exists(user.id) or user.role == "admin" }
  - { resource: "GET /seen", condition: 'exists(request.headers["cf-access-jwt-assertion"])' }
  - { resource: "GET /offers", condition: 'request.headers["sec-websocket-protocol"] == "v1, v2"' }
websocket_policies:
  - connection: { path: /socket, condition: user.role == "admin" and request.headers.cookie == "a=b" }
  - connection: { path: /public/socket, condition: "true" }
`;
const PREFIX = "bearer.";
const K8S = "base64url.bearer.authorization.k8s.io.";
const HEADER = "cf-access-jwt-assertion";
type Headers = NonNullable<RequestParts["headers"]>;

describe("decision: where callers' tokens may be", () => {
  const idp = useIssuer();
  const snapshot = snapshotOf(POLICIES);
  const decide = async (
    parts: RequestParts,
    tokens: TokenSources,
    verifier = idp.verifier,
  ): Promise<Decision> =>
    deciderOf(snapshot, {
      verifier,
      tokens,
      originCheck: createOriginCheck([]),
      ...(tokens.cookie !== undefined && { cookie: tokens.cookie }),
    })(accessOf(parts));
  const outcomeOf = async (path: string, headers: Headers, tokens: TokenSources, method = "GET") =>
    outcome(await decide({ path, headers, method }, tokens));
  const admin = (claims = {}) => idp.token({ role: "admin", ...claims });

  describe("the application's own bearer tokens", () => {
    const sources = () => ({ foreignTo: idp.issuer.url });
    const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const jwt = (claims: unknown) => `${segment({ alg: "RS256", kid: "x" })}.${segment(claims)}.c2ln`;
    const foreign: Record<string, string> = {
      opaque: "xoxb-17653672481-19874698323",
      "with dots": "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
      "a JWT of another issuer": jwt({ iss: "https://app.example", sub: "1" }),
      padded: "c2VjcmV0Og==",
    };
    for (const [what, token] of Object.entries(foreign))
      it(`pass open rules, as those of nobody, if that is configured: ${what}`, async () => {
        const headers = [bearer(token)];
        const decision = await decide({ path: "/public", headers }, sources());
        assert.equal(outcome(decision), "ALLOW CONDITION_TRUE");
        assert.equal(decision.identity, undefined);
        for (const path of ["/roles", "/anyone"])
          assert.equal(await outcomeOf(path, headers, sources()), "DENY TOKEN_FOREIGN");
        for (const path of ["/public", "/roles"])
          assert.match(await outcomeOf(path, headers, {}), /^DENY TOKEN_(MALFORMED|ALGORITHM|KEY|TYPE)/);
      });

    it("are never tokens of ours, however bad", async () => {
      const good = await admin();
      const [header = "", payload = "", signature = ""] = good.split(".");
      const now = Math.floor(Date.now() / 1000);
      const ours = [
        await admin({ exp: now - 600, iat: now - 1200 }),
        `${header}.${payload}.`,
        `${header}.${payload}`,
        header,
        `${header}.${payload}.${signature}.x`,
        `${header}.${payload}x.${signature}`,
        `${header}=.${payload}.${signature}`,
        `${header}.${segment({ sub: "1" })}.${signature}`,
        `${header}.${segment({ iss: [idp.issuer.url] })}.${signature}`,
        `${header}.${Buffer.from(`{"iss":"https://x.example","iss":"${idp.issuer.url}"}`).toString("base64url")}.x`,
        jwt({ iss: idp.issuer.url }),
        `${segment({ alg: "RSA-OAEP", enc: "A256GCM" })}.a.b.c.d`,
        `gh_live_${"a".repeat(38)}`,
        `x${"a".repeat(20_000)}`,
      ];
      for (const token of ours)
        assert.match(
          await outcomeOf("/public", [bearer(token)], sources()),
          /^DENY TOKEN_(?!FOREIGN)/,
          token.slice(0, 80),
        );
      assert.equal(await outcomeOf("/roles", [bearer(good)], sources()), "ALLOW CONDITION_TRUE");
    });

    it("are not helped by a cookie, and stand beside a header that names the caller", async () => {
      const cookie = ["cookie", `sid=${await admin()}`] as const;
      const own = bearer("opaque");
      assert.equal(
        await outcomeOf("/roles", [own, cookie], { ...sources(), cookie: "sid" }),
        "DENY TOKEN_FOREIGN",
      );
      const named = [own, [HEADER, await admin()] as const];
      assert.equal(
        await outcomeOf("/roles", named, { ...sources(), header: HEADER }),
        "ALLOW CONDITION_TRUE",
      );
      assert.equal(await outcomeOf("/roles", named, { header: HEADER }), "DENY TOKEN_MALFORMED");
    });
  });

  describe("an access proxy's header", () => {
    const tokens = { header: HEADER };
    it("names the caller, and rules do not read it", async () => {
      const headers = [[HEADER, await admin()] as const];
      assert.equal(await outcomeOf("/roles", headers, tokens), "ALLOW CONDITION_TRUE");
      assert.equal(await outcomeOf("/roles", headers, {}), "DENY IDENTITY_REQUIRED");
      assert.equal(await outcomeOf("/seen", headers, tokens), "DENY CONDITION_FALSE");
    });
    it("counts like a cookie: for requests from elsewhere that change something it does not", async () => {
      const token = [HEADER, await admin()] as const;
      const from = (origin: string) => [token, ["origin", origin] as const];
      assert.equal(
        await outcomeOf("/roles", from("http://evil.test"), tokens, "POST"),
        "DENY ORIGIN_NOT_TRUSTED",
      );
      assert.equal(await outcomeOf("/roles", [token], tokens, "POST"), "DENY ORIGIN_NOT_TRUSTED");
      assert.equal(
        await outcomeOf("/roles", from("http://app.test"), tokens, "POST"),
        "ALLOW CONDITION_TRUE",
      );
      const expired = [[HEADER, await admin({ exp: 1, iat: 0 })] as const];
      assert.equal(await outcomeOf("/public", expired, tokens), "ALLOW CONDITION_TRUE");
      assert.equal(await outcomeOf("/roles", expired, tokens), "DENY TOKEN_EXPIRED");
    });
    it("is refused beside another token: nobody could say who is meant", async () => {
      const [one, two] = [await admin(), await idp.token({ role: "viewer", sub: "other" })];
      const both = [[HEADER, one] as const, bearer(two)];
      assert.equal(await outcomeOf("/roles", both, tokens), "DENY TOKEN_MALFORMED");
      assert.equal(
        await outcomeOf("/roles", [[HEADER, one] as const, bearer(one)], tokens),
        "ALLOW CONDITION_TRUE",
      );
      const twice = [[HEADER, one] as const, [HEADER, one] as const];
      assert.equal(await outcomeOf("/roles", twice, tokens), "DENY TOKEN_MALFORMED");
    });
    it("does not help a bearer token past the rules that read no identity", async () => {
      const expired = bearer(await admin({ exp: 1, iat: 0 }));
      const good = [HEADER, await admin({ sub: "other" })] as const;
      for (const header of [good, [HEADER, "not a token"] as const])
        for (const own of [expired, bearer(await admin())])
          assert.equal(await outcomeOf("/public", [own, header], tokens), "DENY TOKEN_MALFORMED");
      // nothing was presented on purpose, or it is for the application
      const junk = [HEADER, "not a token"] as const;
      assert.equal(await outcomeOf("/public", [junk], tokens), "ALLOW CONDITION_TRUE");
      const pass = { ...tokens, foreignTo: idp.issuer.url };
      assert.equal(await outcomeOf("/public", [junk, bearer("opaque")], pass), "ALLOW CONDITION_TRUE");
      assert.equal(await outcomeOf("/public", [good, expired], pass), "DENY TOKEN_MALFORMED");
      // the same one in both
      const text = await admin({ exp: 1, iat: 0 });
      const offered = ["sec-websocket-protocol", `${PREFIX}${text}, v1`] as const;
      for (const own of [bearer(text), offered])
        assert.equal(
          await outcomeOf("/public", [[HEADER, text], own], { ...tokens, websocketProtocol: PREFIX }),
          "DENY TOKEN_EXPIRED",
        );
    });
    it("is removed in every other spelling", () => {
      const find = createForgedHeaders({ names: [], prefixes: [], accepted: [], read: [HEADER] });
      const names = [HEADER, "cf_access_jwt_assertion", "cf-access.jwt-assertion", "cf-access-user"];
      assert.deepEqual(find(names.map((name) => [name, "x"])), names.slice(1));
    });
  });

  describe("a WebSocket subprotocol", () => {
    const tokens = { websocketProtocol: PREFIX };
    const offer = (value: string) => [["sec-websocket-protocol", value] as const];
    it("names the caller, and neither rules nor the application get it", async () => {
      const token = await admin();
      const headers = offer(`v1, ${PREFIX}${token},v2`);
      assert.equal(await outcomeOf("/roles", headers, tokens), "ALLOW CONDITION_TRUE");
      const decision = await decide({ path: "/offers", headers }, tokens);
      assert.ok(decision.verdict === "ALLOW");
      const upstream = createUpstreamHeaders({ identityHeaders: () => ({ set: [], remove: [] }), tokens });
      const { set } = upstream(decision, { access: accessOf({ headers }), carries: new Set() });
      assert.deepEqual(set, [["sec-websocket-protocol", "v1, v2"]]);
      assert.equal(await outcomeOf("/roles", headers, {}), "DENY IDENTITY_REQUIRED");
    });
    it("may be in Kubernetes' form", async () => {
      const token = await admin();
      const k8s = { websocketProtocol: K8S };
      const encoded = Buffer.from(token).toString("base64url");
      assert.equal(
        await outcomeOf("/roles", offer(`${K8S}${encoded}, v4.channel.k8s.io`), k8s),
        "ALLOW CONDITION_TRUE",
      );
      for (const bad of [token, `${encoded}==`, `${encoded}!`, "", Buffer.from("a b").toString("base64url")])
        assert.match(
          await outcomeOf("/public", offer(`${K8S}${bad}, v4`), k8s),
          /^DENY TOKEN_MALFORMED/,
          bad,
        );
    });
    it("is refused alone, twice, beside another caller's, and beside what is no subprotocol", async () => {
      const token = await admin();
      const other = await idp.token({ sub: "other" });
      for (const value of [
        `${PREFIX}${token}`,
        `${PREFIX}${token},`,
        `${PREFIX}${token}, ${PREFIX}${token}, v1`,
        `${PREFIX}, v1`,
        `${PREFIX}${token}, "v1"`,
        `${PREFIX}${token}, v 1`,
      ])
        assert.equal(await outcomeOf("/public", offer(value), tokens), "DENY TOKEN_MALFORMED", value);
      const both = [...offer(`${PREFIX}${token}, v1`), bearer(other)];
      assert.equal(await outcomeOf("/public", both, tokens), "DENY TOKEN_MALFORMED");
      const forged = `${token.slice(0, -8)}AAAAAAAA`;
      assert.match(await outcomeOf("/public", offer(`${PREFIX}${forged}, v1`), tokens), /^DENY TOKEN_/);
    });
    it("names the caller beside a cookie, which may be another user's: neither rules nor the application get that", async () => {
      const sources = { ...tokens, cookie: "sid" };
      const upstream = createUpstreamHeaders({
        identityHeaders: (identity) => ({ set: [["x-user-id", identity?.userId ?? ""]], remove: [] }),
        cookie: "sid",
        tokens,
      });
      const victim = await idp.token({ sub: "victim", role: "admin" });
      const open = async (protocols: string, site: string, path = "/socket", verifier = idp.verifier) => {
        const headers: Headers = [
          ["connection", "Upgrade"],
          ["upgrade", "websocket"],
          ["sec-websocket-version", "13"],
          ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
          ["sec-websocket-protocol", protocols],
          ["cookie", `a=b; sid=${victim}`],
          ["sec-fetch-site", site],
        ];
        const decision = await decide({ path, headers }, sources, verifier);
        if (decision.verdict !== "ALLOW") return outcome(decision);
        const { set } = upstream(decision, { access: accessOf({ headers }), carries: new Set() });
        return Object.fromEntries(set.filter(([name]) => ["x-user-id", "cookie"].includes(name)));
      };
      const offered = `${PREFIX}${await admin({ sub: "attacker" })}, v1`;
      const [nobody, attacker] = ["", "attacker"].map((id) => ({ "x-user-id": id, cookie: "a=b" }));
      for (const site of ["cross-site", "same-origin"])
        assert.deepEqual(await open(offered, site), attacker, site);
      // while nobody can tell whose token it is, too
      const early = await open(offered, "cross-site", "/public/socket", verifierFor(idp.issuer));
      assert.deepEqual(early, nobody);
      assert.deepEqual(await open("v1", "cross-site", "/public/socket"), nobody);
      assert.deepEqual(await open("v1", "same-origin", "/public/socket"), { "x-user-id": "victim" });
    });
    it("is left alone where it carries no token", async () => {
      assert.equal(await outcomeOf("/offers", offer("v1, v2"), tokens), "ALLOW CONDITION_TRUE");
    });
  });

  it("withholds API keys from rules and the application, unless they are to be forwarded", () => {
    const upstream = (tokens: TokenSources) =>
      createUpstreamHeaders({ identityHeaders: () => ({ set: [], remove: [] }), tokens });
    const headers = [bearer(`gh_live_${"a".repeat(38)}`)];
    const check = { access: accessOf({ headers }), carries: new Set<never>() };
    const permit = {
      verdict: "ALLOW",
      reason: "CONDITION_TRUE",
      clientIp: "",
      trustedPeer: false,
      accepted: [],
    } as const;
    assert.deepEqual(upstream({ apiKeys: "accept" })(permit, check).remove, ["authorization"]);
    assert.deepEqual(upstream({ apiKeys: "forward" })(permit, check).remove, []);
    const other = { ...check, access: accessOf({ headers: [bearer("x.y.z")] }) };
    assert.deepEqual(upstream({ apiKeys: "accept" })(permit, other).remove, []);
  });
});
