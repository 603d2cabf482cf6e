import assert from "node:assert/strict";
import type { Identity, IdentityOptions } from "../../src/identity/index.ts";
import { compileCondition, evaluate, parseCondition } from "../../src/policy/index.ts";
import { AUDIENCE, createSigner, createSubject, ISSUER, json, startServer, type Signer } from "./support.ts";

/** Claims as the providers' documentation shows them. */
const COGNITO = {
  sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
  "cognito:groups": ["admin"],
  version: 2,
  client_id: "xxxxxxxxxxxxexample",
  origin_jti: "aaaaaaaa-0000",
  event_id: "64f513be-32db-42b0-b78e-b02127b4f463",
  token_use: "access",
  scope: "aws.cognito.signin.user.admin openid",
  username: "my-test-user",
  aud: undefined,
};
const KEYCLOAK = {
  azp: "my-app",
  realm_access: { roles: ["offline_access"] },
  resource_access: { "my.client": { roles: ["manage"] }, my: { client: { roles: ["another client's"] } } },
  scope: "openid profile",
};
const ENTRA = {
  appid: "22222222-2222-2222-2222-222222222222",
  oid: "11111111-1111-1111-1111-111111111111",
  tid: "33333333-3333-3333-3333-333333333333",
  ver: "2.0",
  scp: "Orders.Read Orders.Write",
  roles: ["Approver"],
};
const OVERAGE = {
  ...ENTRA,
  _claim_names: { groups: "src1" },
  _claim_sources: { src1: { endpoint: "https://graph.windows.net/tid/users/oid/getMemberObjects" } },
};

describe("identity: tokens as providers issue them", () => {
  let signer: Signer;
  const closing: (() => unknown)[] = [];
  let jwks: string;
  before(async () => {
    signer = await createSigner("ES256", "key");
    const server = await startServer(json({ keys: [signer.publicJwk] }));
    closing.push(() => server.close());
    jwks = server.origin;
  });
  after(() => Promise.all(closing.map((close) => close())));

  const verify = async (claims: Record<string, unknown>, options: Partial<IdentityOptions> = {}) => {
    const { verifier } = createSubject({ jwks, ...options });
    await verifier.start();
    verifier.close();
    return verifier.verify(await signer.sign(claims));
  };
  const identify = async (...parts: Parameters<typeof verify>): Promise<Identity> => {
    const result = await verify(...parts);
    assert.ok(result.ok, result.ok ? "" : result.detail);
    return result.identity;
  };
  const reasonOf = async (...parts: Parameters<typeof verify>) => {
    const result = await verify(...parts);
    return result.ok ? "accepted" : result.reason;
  };
  const verdictOf = (text: string, { user, customer }: Identity) => {
    const { ast } = parseCondition(text);
    assert.ok(ast);
    return evaluate(compileCondition(ast, text).expression, { user, customer });
  };

  describe("Amazon Cognito: access tokens without `aud`", () => {
    const clientIds = ["xxxxxxxxxxxxexample"];
    it("are accepted for the clients that are listed, and no others", async () => {
      const { user } = await identify(COGNITO, { clientIds, claims: { "user.groups": "cognito:groups" } });
      assert.deepEqual(
        { ...user },
        {
          id: COGNITO.sub,
          groups: ["admin"],
          scopes: ["aws.cognito.signin.user.admin", "openid"],
        },
      );
      assert.equal(await reasonOf(COGNITO), "TOKEN_CLAIMS_INVALID");
      for (const client_id of ["another", "", undefined, clientIds, { 0: clientIds[0] }, 7])
        assert.equal(await reasonOf({ ...COGNITO, client_id }, { clientIds }), "TOKEN_AUDIENCE_MISMATCH");
    });
    it("must name the audience if they have an `aud`, whatever the client", async () => {
      for (const aud of ["https://other.example", [], ["a"], ""])
        assert.equal(await reasonOf({ ...COGNITO, aud }, { clientIds }), "TOKEN_AUDIENCE_MISMATCH");
      for (const aud of [null, 7, {}, false])
        assert.notEqual(await reasonOf({ ...COGNITO, aud }, { clientIds }), "accepted");
      await identify({ ...COGNITO, aud: AUDIENCE, client_id: "another" }, { clientIds });
    });
    it("are checked like any other", async () => {
      const now = Math.floor(Date.now() / 1000);
      assert.equal(await reasonOf({ ...COGNITO, exp: now - 60 }, { clientIds }), "TOKEN_EXPIRED");
      assert.equal(await reasonOf({ ...COGNITO, iss: `${ISSUER}/` }, { clientIds }), "TOKEN_ISSUER_MISMATCH");
      const stranger = await createSigner("ES256", "key");
      const { verifier } = createSubject({ jwks, clientIds });
      await verifier.start();
      verifier.close();
      const forged = await verifier.verify(await stranger.sign(COGNITO));
      assert.equal(forged.ok ? "" : forged.reason, "TOKEN_SIGNATURE_INVALID");
    });
  });

  describe("Keycloak: roles of a client whose name has dots", () => {
    const rolesAt = async (path: string, claims: Record<string, unknown> = KEYCLOAK) =>
      (await identify(claims, { claims: { "user.roles": path } })).user["roles"];
    it("are found by the quoted name, and only there", async () => {
      assert.deepEqual(await rolesAt('resource_access."my.client".roles'), ["manage"]);
      assert.deepEqual(await rolesAt("resource_access.my.client.roles"), ["another client's"]);
      assert.deepEqual(await rolesAt('"resource_access"."my.client"."roles"'), ["manage"]);
      assert.equal(await rolesAt('resource_access."my.other".roles'), undefined);
      assert.equal(await rolesAt('resource_access."__proto__".roles'), undefined);
      assert.deepEqual(await rolesAt('a."b\\".c\\u002e"', { a: { 'b".c.': ["quoted"] } }), ["quoted"]);
    });
    for (const path of ['a."b', 'a.b"', 'a"b".c', '"a"b', 'a.."b"', '."b"', '"b".', '"\\x"', ""])
      it(`is not ${JSON.stringify(path)}`, () => {
        assert.throws(() => createSubject({ claims: { "user.roles": path } }), TypeError);
      });
  });

  describe("roles in one string", () => {
    const rolesOf = async (roles: unknown, claimLists: IdentityOptions["claimLists"]) =>
      (await identify({ roles }, claimLists === undefined ? {} : { claimLists })).user["roles"];
    it("are a list only if that is configured", async () => {
      assert.equal(await rolesOf("viewer,admin", undefined), "viewer,admin");
      assert.deepEqual(await rolesOf(" viewer, admin,,", { "user.roles": "comma" }), ["viewer", "admin"]);
      assert.deepEqual(await rolesOf("viewer  admin ", { "user.roles": "space" }), ["viewer", "admin"]);
      // the other separator is a part of a role
      assert.deepEqual(await rolesOf("site admin,b", { "user.roles": "comma" }), ["site admin", "b"]);
      assert.deepEqual(await rolesOf("a,admin", { "user.roles": "space" }), ["a,admin"]);
      assert.deepEqual(await rolesOf("", { "user.roles": "comma" }), []);
    });
    it("are left as they are if they are not a string", async () => {
      assert.deepEqual(await rolesOf(["a,b"], { "user.roles": "comma" }), ["a,b"]);
      assert.equal(await rolesOf(7, { "user.roles": "comma" }), 7);
    });
    it("need a claim", () => {
      assert.throws(() => createSubject({ claimLists: { "user.rolls": "comma" } }), TypeError);
    });
  });

  describe("Microsoft Entra", () => {
    it("has scopes in `scp`", async () => {
      const { user } = await identify(ENTRA, { claims: { "user.scopes": "scp" } });
      assert.deepEqual(user["scopes"], ["Orders.Read", "Orders.Write"]);
      assert.equal((await identify(ENTRA)).user["scopes"], undefined);
    });

    const overages: Record<string, Record<string, unknown>> = {
      "`_claim_names`": OVERAGE,
      "`hasgroups`": { ...ENTRA, hasgroups: true },
      "`hasgroups` as text": { ...ENTRA, hasgroups: "true" },
      "some of the groups as well": { ...OVERAGE, groups: ["a"] },
    };
    for (const [what, claims] of Object.entries(overages))
      it(`says with ${what} that groups are elsewhere, which is not "none"`, async () => {
        const identity = await identify(claims);
        assert.deepEqual(identity.omitted, ["user.groups"]);
        for (const condition of [
          '"staff" in user.groups',
          'not ("blocked" in user.groups)',
          'not user.groups.includes("blocked")',
          "not exists(user.groups)",
          "exists(user.groups)",
          'user.groups != "blocked"',
          "user.groups == user.groups",
        ])
          assert.equal(verdictOf(condition, identity), undefined, condition);
        assert.equal(verdictOf('"Approver" in user.roles', identity), true);
      });
    it("makes every attribute unavailable whose claim is elsewhere, also below it", async () => {
      const claims = { "user.groups": "memberships.all", "user.team": "team" };
      const identity = await identify(
        { memberships: { all: ["a"] }, team: "t", _claim_names: { memberships: "s", team: "s" } },
        { claims },
      );
      assert.deepEqual(identity.omitted, ["user.groups", "user.team"]);
      assert.equal(verdictOf("not exists(user.team)", identity), undefined);
    });
    it("has all groups if it says nothing else", async () => {
      for (const rest of [
        {},
        { hasgroups: false },
        { _claim_names: {} },
        { _claim_names: { address: "s" } },
      ]) {
        const identity = await identify({ ...ENTRA, ...rest, groups: ["a"] });
        assert.equal(identity.omitted, undefined);
        assert.equal(verdictOf('not ("b" in user.groups)', identity), true);
      }
    });
    it("is refused where the user or the customer is elsewhere, or nobody can tell", async () => {
      const claims = { "user.id": "oid", "customer.id": "tid" };
      for (const name of ["oid", "tid"])
        assert.equal(
          await reasonOf({ ...ENTRA, _claim_names: { [name]: "s" } }, { claims }),
          "TOKEN_CLAIMS_INVALID",
        );
      for (const names of ["groups", ["groups"], 7])
        assert.equal(await reasonOf({ ...ENTRA, _claim_names: names }), "TOKEN_CLAIMS_INVALID");
    });
  });

  it("finds the key among hundreds, as of an issuer with one per tenant, and refuses thousands", async () => {
    const others = Array.from({ length: 500 }, (_, index) => ({
      ...signer.publicJwk,
      kid: `tenant-${index}`,
    }));
    const keys = [...others, signer.publicJwk];
    const server = await startServer((_request, response) => response.end(JSON.stringify({ keys })));
    closing.push(() => server.close());
    assert.equal(await reasonOf({}, { jwks: server.origin }), "accepted");
    keys.push(...others);
    assert.equal(await reasonOf({}, { jwks: server.origin }), "IDENTITY_NOT_READY");
  });
});
