import assert from "node:assert/strict";
import type { Identity } from "../../src/identity/index.ts";
import { compileCondition, evaluate, parseCondition } from "../../src/policy/index.ts";
import {
  createSigner,
  createSubject,
  goodClaims,
  json,
  signText,
  startServer,
  type Signer,
  type TestServer,
} from "./support.ts";

describe("identity: claims to attributes", () => {
  let signer: Signer;
  let server: TestServer;

  before(async () => {
    signer = await createSigner("ES256", "key");
    server = await startServer(json({ keys: [signer.publicJwk] }));
  });
  after(() => server.close());

  const verifyText = async (token: string, claims: Record<string, string> = {}) => {
    const { verifier } = createSubject({ jwks: server.origin, claims });
    await verifier.start();
    verifier.close();
    return verifier.verify(token);
  };
  const identify = async (
    payload: Record<string, unknown>,
    claims?: Record<string, string>,
  ): Promise<Identity> => {
    const result = await verifyText(await signer.sign(payload), claims);
    assert.ok(result.ok, result.ok ? "" : result.detail);
    return result.identity;
  };
  const plain = (value: unknown): unknown =>
    value === undefined ? undefined : JSON.parse(JSON.stringify(value));

  it("maps the usual claims", async () => {
    const claims = {
      email: "alice@example.com",
      name: "Alice",
      role: "manager",
      roles: ["manager", "auditor"],
      permissions: ["read", "write"],
      department: "sales",
      groups: [],
      customer_id: "c-1",
      assigned_customers: ["c-1", "c-2"],
    };
    const exp = Math.floor(Date.now() / 1000) + 60;
    const identity = await identify({ ...claims, exp, scope: " read  write ", other: "is not mapped" });
    assert.deepEqual(plain(identity), {
      user: { id: "alice", ...claims, scopes: ["read", "write"] },
      customer: { id: "c-1" },
      userId: "alice",
      session: { subject: "alice", amr: [] },
      expiresAt: exp,
    });
  });

  it("keeps what the token says about the sign-in", async () => {
    const { session } = await identify({
      sid: "ses_1",
      amr: ["pwd", "otp"],
      acr: "urn:2fa",
      auth_time: 1_700_000_000,
    });
    assert.deepEqual(plain(session), {
      subject: "alice",
      id: "ses_1",
      amr: ["pwd", "otp"],
      acr: "urn:2fa",
      authTime: 1_700_000_000,
    });
    const other = await identify({ sid: 1, amr: ["pwd", 2], acr: ["urn:2fa"], auth_time: "now" });
    assert.deepEqual(plain(other.session), { subject: "alice", amr: ["pwd"] });
  });

  it("tells a machine from a user by the issuer's word and RFC 9068, and by nothing less", async () => {
    const machine = { principal_type: "machine", sub: "cli_1", client_id: "cli_1" };
    const { user, userId, session } = await identify({ ...machine, scope: "reports:read" });
    assert.deepEqual(plain({ user, userId, session }), {
      user: { id: "cli_1", scopes: ["reports:read"], type: "machine" },
      userId: "cli_1",
      session: { subject: "cli_1", amr: [], machine: true },
    });
    for (const other of [
      { ...machine, client_id: "key_1" },
      { ...machine, principal_type: "user" },
      { sub: "cli_1", client_id: "cli_1" },
    ])
      assert.ok(!("machine" in (await identify(other)).session), JSON.stringify(other));
  });

  it("leaves out what the token does not say", async () => {
    const identity = await identify({});
    assert.deepEqual(plain(identity.user), { id: "alice" });
    assert.ok(!("customer" in identity));
  });

  it("keeps null, and false, and zero", async () => {
    const { user } = await identify({ role: null, name: false, department: 0 });
    assert.deepEqual(plain(user), { id: "alice", role: null, name: false, department: 0 });
  });

  it("looks a configured claim up by its whole name first, then as a path", async () => {
    const claims = {
      "user.roles": "https://example.com/roles",
      "user.groups": "realm.access.groups",
      "user.role": "a.b",
    };
    const found = await identify(
      {
        "https://example.com/roles": ["a"],
        realm: { access: { groups: ["b"] } },
        "a.b": "whole",
        a: { b: "path" },
        roles: ["not this"],
      },
      claims,
    );
    assert.deepEqual(plain(found.user), { id: "alice", roles: ["a"], groups: ["b"], role: "whole" });
    const missing = await identify({ roles: ["not this"], realm: { access: [] }, a: "b" }, claims);
    assert.deepEqual(plain(missing.user), { id: "alice" });
  });

  it("maps whatever is configured beside the defaults", async () => {
    const claims = {
      "customer.status": "tenant.status",
      "user.level": "level",
      "user.customer_id": "tenant.id",
    };
    const { user, customer } = await identify(
      { tenant: { id: "t", status: "active" }, level: 3, customer_id: "c" },
      claims,
    );
    assert.deepEqual(plain(user), { id: "alice", level: 3, customer_id: "t" });
    assert.deepEqual(plain(customer), { id: "c", status: "active" });
  });

  it("takes user.id from another claim, and then sub may be missing, but not ill-typed", async () => {
    const claims = { "user.id": "uid" };
    const { userId, user } = await identify({ uid: "u-1", sub: undefined }, claims);
    assert.equal(userId, "u-1");
    assert.equal(user["id"], "u-1");
    for (const payload of [{ uid: "u-1", sub: 7 }, { uid: 7 }, { uid: "a\nb" }, {}]) {
      const result = await verifyText(await signer.sign(payload), claims);
      assert.equal(result.ok ? undefined : result.reason, "TOKEN_CLAIMS_INVALID");
    }
  });

  it("takes one customer, not several", async () => {
    for (const customer_id of [["cus_a"], ["cus_a", "cus_b"], [], { id: "cus_a" }]) {
      const result = await verifyText(await signer.sign({ sub: "u", customer_id }), {});
      assert.equal(
        result.ok ? undefined : result.reason,
        "TOKEN_CLAIMS_INVALID",
        JSON.stringify(customer_id),
      );
    }
    assert.equal((await identify({ customer_id: 7 })).customer?.["id"], 7);
  });

  it("keeps letters of every script in the id", async () => {
    assert.equal((await identify({ sub: "Łucja 👩‍💻" })).userId, "Łucja 👩‍💻");
  });

  it("finds only what the token itself says", async () => {
    const names = [
      "constructor",
      "__proto__",
      "toString",
      "hasOwnProperty",
      "realm.constructor",
      "realm.__proto__",
      "roles.length",
    ];
    for (const claim of names) {
      const { user } = await identify({ realm: {}, roles: ["a"] }, { "user.level": claim });
      assert.deepEqual(plain(user), { id: "alice", roles: ["a"] }, claim);
    }
  });

  it("is not harmed by a claim named __proto__", async () => {
    const payload = JSON.stringify(goodClaims()).replace("{", '{"__proto__":{"role":"admin","id":"root"},');
    for (const claims of [{}, { "user.level": "__proto__" }]) {
      const result = await verifyText(signText(signer, payload), claims);
      assert.ok(result.ok);
      const { user } = result.identity;
      assert.equal(user["role"], undefined);
      assert.equal(user["id"], "alice");
      assert.equal(Object.getPrototypeOf(user), null);
    }
    assert.equal(({} as Record<string, unknown>)["role"], undefined);
  });

  it("does not know an id that a number cannot hold, rather than rounding it", async () => {
    const payload = JSON.stringify(goodClaims()).replace(
      "{",
      '{"customer_id":9007199254740993,"assigned_customers":[1,9007199254740993],"department":9007199254740992,',
    );
    const result = await verifyText(signText(signer, payload));
    assert.ok(result.ok);
    const { user, customer } = result.identity;
    assert.deepEqual(
      { ...user },
      { id: "alice", customer_id: NaN, assigned_customers: [1, NaN], department: 9007199254740992 },
    );
    assert.deepEqual({ ...customer }, { id: NaN });
    // what is there rules out `not exists(user.x)`, and no comparison with it is true
    const verdict = (text: string) => {
      const { ast } = parseCondition(text);
      assert.ok(ast);
      return evaluate(compileCondition(ast, text).expression, { user, customer });
    };
    assert.equal(verdict("not exists(user.customer_id)"), false);
    assert.equal(verdict("user.customer_id == customer.id"), undefined);
    assert.equal(verdict("user.customer_id == 9007199254740992"), undefined);
    assert.equal(verdict("1 in user.assigned_customers"), true);
    assert.equal(verdict("2 in user.assigned_customers"), undefined);
  });

  it("takes a time that a number cannot hold for none", async () => {
    const payload = JSON.stringify(goodClaims()).replace("{", '{"auth_time":9007199254740993,');
    const result = await verifyText(signText(signer, payload));
    assert.ok(result.ok);
    assert.equal(result.identity.session.authTime, undefined);
    const nbf = JSON.stringify(goodClaims()).replace("{", '{"iat":1.00000000000000000001,');
    const refused = await verifyText(signText(signer, nbf.replace(/"iat":\d+,/, "")));
    assert.ok(!refused.ok && refused.reason === "TOKEN_CLAIMS_INVALID");
  });

  it("gives objects that nobody can change", async () => {
    const identity = await identify({ roles: ["a"], role: { of: ["b"] }, customer_id: "c" });
    const { user, customer } = identity;
    for (const part of [identity, user, customer, user["roles"], user["role"]])
      assert.ok(Object.isFrozen(part));
    for (const part of [user, customer]) assert.equal(Object.getPrototypeOf(part), null);
  });
});
