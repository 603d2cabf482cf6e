import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { compileSet } from "../../../../src/cli/policy-sets.ts";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { customerRoutes } from "../../../../src/control/resources/customers/routes.ts";
import { createGatewayFeed } from "../../../../src/control/gateway/feed.ts";
import { gatewayRoutes } from "../../../../src/control/gateway/routes.ts";
import { policyRoutes } from "../../../../src/control/resources/policies/routes.ts";
import { signInRoutes } from "../../../../src/control/sign-in/routes.ts";
import { userRoutes } from "../../../../src/control/resources/users/routes.ts";
import { decideOffline } from "../../../../src/decision/explain/offline.ts";
import { createSnapshot } from "../../../../src/decision/policies/snapshot.ts";
import { compileClaims } from "../../../../src/identity/claims.ts";
import { FULL_KEY } from "../../../support/control.ts";
import { DEMO_POLICIES } from "../../../support/demo-policies.ts";
import { ANY_CLAIMS } from "../../support/claims.ts";
import { startSignInBench, told, type SignInBench } from "../../support/sign-in.ts";

/** What a provider says who wants everything. */
const GREEDY = {
  role: "admin",
  roles: ["admin", "owner"],
  permissions: ["customers:read", "customers:write", "customers:delete", "orders:read", "reports:read"],
  groups: ["platform-admins"],
  department: "finance",
  assigned_customers: ["cus_a"],
  app: { admin: true, customers: ["cus_a"] },
};
const NAMES = ["role", "roles", "permissions", "groups", "department", "assigned_customers", "is_admin"];

const { ir } = await compileSet(DEMO_POLICIES, "default");
assert.ok(ir);
const shipped = createSnapshot(ir, { caseSensitive: false });

/** What a gateway with the shipped policy set decides for somebody with the token. */
async function decide(token: string, method: string, target: string): Promise<string> {
  const reading = compileClaims({})(decodeJwt(token));
  assert.ok(reading.ok);
  const { user, customer } = reading.attributes;
  const { decision } = await decideOffline(shipped, {
    raw: {
      ...{ method, target, scheme: "http", host: "app.test", protocol: "HTTP/1.1" },
      headers: [["x-change-ticket", "CHG-1"]],
    },
    user,
    ...(customer !== undefined && { customer }),
    lookup: () => undefined,
    now: Date.parse("2026-01-01T00:00:00Z"),
  });
  return decision.verdict;
}

describe("claims of a customer's identity provider", () => {
  let bench: SignInBench;
  let victim: string;

  before(async () => {
    bench = await startSignInBench({
      routes: (context, shared) => [
        ...customerRoutes(context),
        ...policyRoutes(context),
        ...userRoutes(context),
        ...signInRoutes(context, shared),
        ...gatewayRoutes(context, createGatewayFeed(context)),
      ],
    });
    victim = await bench.customer();
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.provider.users.set("alice", { claims: GREEDY });
  });

  const keyOf = (customerId: string): Actor => ({
    ...FULL_KEY,
    id: "key_limited",
    scope: "configuration",
    customerId,
  });
  const put = (id: string, body: object, as: Actor = FULL_KEY) =>
    bench.request("PUT", `/customers/${id}`, { as, body });
  const read = async (path: string) => (await bench.request("GET", path)).body.data;
  const saidBy = (token: string) => {
    const claims = decodeJwt(token);
    return Object.fromEntries(NAMES.flatMap((name) => (name in claims ? [[name, claims[name]]] : [])));
  };

  it("make nobody an administrator of the platform, by a provider that a key of the customer names", async () => {
    const own = (
      await bench.request("POST", "/customers", {
        body: { name: "B", allowed_return_urls: ["https://app.example.com/signed-in?tenant=1"] },
      })
    ).body.data.id as string;
    const configured = await bench.request("POST", `/customers/${own}/idp`, {
      as: keyOf(own),
      body: {
        type: "oidc",
        domain: bench.provider.issuer,
        client_id: bench.provider.clientId,
        client_secret: bench.provider.clientSecret,
        // whatever fills them, they are what they are
        claims: { role: "role", roles: "permissions", permissions: "roles" },
      },
    });
    assert.equal(configured.status, 201, configured.text);
    const { access_token: token, user } = await bench.signIn(own);
    assert.deepEqual(saidBy(token), {});
    assert.deepEqual([user["role"], user["permissions"], user["department"]], [null, null, null]);
    const attempts = [
      ["GET", "/api/customers"],
      ["GET", `/api/customers/${victim}`],
      ["PUT", `/api/customers/${victim}`],
      ["DELETE", `/api/customers/${victim}`],
      ["GET", `/api/customers/${victim}/orders`],
      ["GET", `/api/customers/${victim}/contacts/export`],
      ["GET", "/api/reports/revenue"],
      ["GET", "/admin/settings"],
      ["GET", "/dashboard"],
    ] as const;
    for (const [method, path] of attempts) assert.equal(await decide(token, method, path), "DENY", path);
    // and were it let say all that, its administrators would be administrators at home
    assert.equal((await put(own, { ...ANY_CLAIMS, allowed_claims: ["department"] })).status, 200);
    const { access_token: permitted } = await bench.signIn(own);
    assert.equal(saidBy(permitted)["role"], "admin");
    for (const [method, path] of attempts) assert.equal(await decide(permitted, method, path), "DENY", path);
    assert.equal(await decide(permitted, "GET", `/api/customers/${own}`), "ALLOW");
  });

  it("are told where they were dropped, with the reason: of the user, the event and the record", async () => {
    const customer = await bench.customer(bench.provider, {}, { allowed_roles: ["owner"] });
    bench.forget();
    const { user } = await bench.signIn(customer);
    const {
      profile,
      effective_attributes: effective,
      dropped_claims: dropped,
    } = await read(`/users/${user.id}`);
    assert.deepEqual(profile, { roles: ["owner"] });
    assert.deepEqual(effective, { roles: ["owner"], id: user.id, customer_id: customer });
    const not = (claim: string, values: readonly string[], list: string) => ({
      ...{ claim, values, count: values.length },
      reason: `\`${list}\` of the customer is not set`,
    });
    const unlisted = "`allowed_roles` of the customer does not list it";
    assert.deepEqual(dropped, [
      not("department", ["finance"], "allowed_claims"),
      not("groups", GREEDY.groups, "allowed_groups"),
      not("permissions", GREEDY.permissions, "allowed_permissions"),
      { claim: "role", values: ["admin"], count: 1, reason: unlisted },
      { claim: "roles", values: ["admin"], count: 1, reason: unlisted },
    ]);
    const [event] = bench.events.filter(({ type }) => type === "user.authenticated");
    assert.deepEqual(event?.data.dropped_claims, dropped);
    const [created] = bench.changes.filter(({ action }) => action === "user.created");
    assert.ok(created?.after !== undefined);
    assert.deepEqual(created.after["profile"], { roles: ["owner"] });
    assert.deepEqual((created.after["claimed"] as { role: string }).role, "admin");
    const [listed] = await read(`/users?customer_id=${customer}`);
    assert.deepEqual(listed.dropped_claims, dropped);
    // found by what counts
    assert.deepEqual(await read(`/users?customer_id=${customer}&role=admin`), []);
  });

  it("become roles by the groups that the operator maps, which the list of users is searched by", async () => {
    const customer = await bench.customer(
      bench.provider,
      {},
      { role_mapping: { "platform-admins": ["manager"] } },
    );
    const { access_token: token, user } = await bench.signIn(customer);
    assert.deepEqual(saidBy(token), { role: "manager", roles: ["manager"] });
    const found = await read(`/users?customer_id=${customer}&role=manager`);
    assert.deepEqual(
      found.map(({ id }: { id: string }) => id),
      [user.id],
    );
  });

  it("are other attributes than those that are listed, and who somebody is never", async () => {
    const mapped = {
      claims: {
        is_admin: "app.admin",
        assigned_customers: "app.customers",
        department: "role",
      },
    };
    const customer = await bench.customer(bench.provider, mapped, { allowed_claims: ["department"] });
    // mapped before such names were refused
    await bench.database
      .db("customer_idps")
      .where({ customer_id: customer })
      .update({ claims: { ...mapped.claims, status: "role" } });
    const { access_token: token, user } = await bench.signIn(customer);
    assert.deepEqual(saidBy(token), { department: "admin" });
    const { dropped_claims: dropped, status } = await read(`/users/${user.id}`);
    assert.equal(status, "active");
    const names = dropped.map(({ claim }: { claim: string }) => claim);
    for (const name of ["is_admin", "assigned_customers", "status"]) assert.ok(names.includes(name), name);
  });

  it("count by the lists of the moment: at a refresh, in the directory and of users who signed in before", async () => {
    const customer = await bench.customer(bench.provider, {}, { allowed_roles: ["admin", "owner"] });
    const { user, refresh_token: first } = await bench.signIn(customer);
    const before = await bench.refresh(first);
    assert.equal(saidBy(before.body.data.access_token)["role"], "admin");
    await bench.database.db("users").where({ id: user.id }).update({ claimed: null, profile: GREEDY });
    assert.equal((await put(customer, { allowed_roles: ["owner"], allowed_groups: ["*"] })).status, 200);
    const after = await bench.refresh(before.body.data.refresh_token);
    const permitted = { roles: ["owner"], groups: ["platform-admins"] };
    assert.deepEqual(saidBy(after.body.data.access_token), permitted);
    assert.equal(after.body.data.user.role, null);
    const identity = { id: user.id, customer_id: customer };
    assert.deepEqual(await read(`/gateway/users/${user.id}`), {
      ...permitted,
      ...identity,
      status: "active",
    });
    assert.deepEqual((await read(`/users/${user.id}`)).effective_attributes, { ...permitted, ...identity });
    // what administrators set is theirs
    const set = await bench.request("PUT", `/users/${user.id}`, {
      body: { attributes: { role: "auditor" } },
    });
    assert.equal(set.body.data.effective_attributes.role, "auditor");
  });

  it("are those of the last sign-in, also where an instance of the release before has written it", async () => {
    const customer = await bench.customer(bench.provider, {}, { allowed_roles: ["admin", "viewer"] });
    const { user, refresh_token: token } = await bench.signIn(customer);
    const role = async (of: string) => {
      const { body } = await bench.refresh(of);
      assert.equal(body.data.user.role ?? null, saidBy(body.data.access_token)["role"] ?? null);
      const { role: known } = await read(`/gateway/users/${user.id}`);
      return [known ?? null, saidBy(body.data.access_token)["role"] ?? null, body.data.refresh_token];
    };
    const [admin, , second] = await role(token);
    assert.equal(admin, "admin");
    // all that it knows of a sign-in
    const older = (profile: object) =>
      bench.database
        .db("users")
        .where({ id: user.id })
        .update({ profile, last_sign_in_at: new Date(), updated_at: new Date() })
        .increment("revision", 1);
    await older({ role: "viewer", department: "finance" });
    const [directory, refreshed] = await role(second);
    assert.deepEqual([directory, refreshed], ["viewer", "viewer"]);
    assert.deepEqual(
      (await read(`/users/${user.id}`)).dropped_claims.map(({ claim }: { claim: string }) => claim),
      ["department"],
    );
    bench.forget();
    assert.equal(
      (await bench.request("PUT", `/users/${user.id}`, { body: { attributes: { a: 1 } } })).status,
      200,
    );
    const [change] = bench.changes;
    assert.ok(!("claimed" in (change?.after ?? {})), JSON.stringify(change));
    // the same claims again are news: what was permitted of the other ones is not what is permitted of these
    await older({ role: "admin", roles: ["admin"] });
    bench.forget();
    const again = await bench.signIn(customer);
    assert.equal(saidBy(again.access_token)["role"], "admin");
    assert.deepEqual(
      bench.told.map(({ type }) => type),
      ["user_changed"],
    );
    // and then they are not
    bench.forget();
    await bench.signIn(customer);
    assert.deepEqual(bench.told, []);
    const [row] = await bench.database.db("users").where({ id: user.id });
    assert.deepEqual(row.claimed_at, row.last_sign_in_at);
    assert.equal((await read(`/users/${user.id}`)).effective_attributes.role, "admin");
  });

  it("are the operator's to permit: a key of the customer sends no list, not even the one that is there", async () => {
    const customer = await bench.customer(bench.provider, {}, { allowed_roles: ["viewer"] });
    const was = await read(`/customers/${customer}`);
    assert.deepEqual(
      [was.allowed_roles, was.allowed_permissions, was.allowed_groups, was.allowed_claims, was.role_mapping],
      [["viewer"], null, null, null, {}],
    );
    bench.forget();
    for (const scope of ["configuration", "full_access"] as const)
      for (const body of [
        { allowed_roles: ["admin"] },
        { allowed_roles: ["viewer"] },
        { allowed_roles: null, name: "Widened" },
        { allowed_permissions: ["*"] },
        { allowed_groups: [] },
        { allowed_claims: ["assigned_customers"] },
        { role_mapping: {} },
      ]) {
        const refused = await put(customer, body, { ...keyOf(customer), scope } as Actor);
        assert.deepEqual(told(refused), [403, "CUSTOMER_KEY_NOT_ALLOWED"], JSON.stringify(body));
        assert.match(refused.body.error.message, /`(allowed|role)_\w+`/);
      }
    const other = keyOf(victim);
    assert.deepEqual(told(await put(customer, { allowed_roles: ["*"] }, other)), [404, "INVALID_CUSTOMER"]);
    assert.deepEqual(
      told(await bench.request("POST", "/customers", { as: other, body: { name: "x", ...ANY_CLAIMS } })),
      [403, "CUSTOMER_KEY_NOT_ALLOWED"],
    );
    assert.deepEqual(await read(`/customers/${customer}`), was);
    assert.deepEqual(bench.changes, []);
    // the rest of its customer is the key's, as before
    assert.equal((await put(customer, { name: "B" }, keyOf(customer))).status, 200);
  });

  it("are permitted in the audit trail, too, and forbidden again by null", async () => {
    const customer = await bench.customer(bench.provider, {}, {});
    bench.forget();
    const rules = {
      allowed_roles: ["*"],
      allowed_claims: ["department", "cost_center"],
      role_mapping: { g: ["r"] },
    };
    const { data } = (await put(customer, rules)).body;
    assert.deepEqual(
      Object.keys(rules).map((name) => data[name]),
      Object.values(rules),
    );
    assert.deepEqual(bench.changes[0]?.after?.["allowed_claims"], rules.allowed_claims);
    assert.deepEqual(bench.events[0]?.data.detail, "allowed_claims, allowed_roles, role_mapping");
    const cleared = await put(customer, { allowed_roles: null, allowed_claims: null, role_mapping: {} });
    assert.deepEqual([cleared.body.data.allowed_roles, cleared.body.data.role_mapping], [null, {}]);
    // the same again is no change
    bench.forget();
    await put(customer, { allowed_roles: null, role_mapping: {} });
    assert.deepEqual(bench.changes, []);
  });

  for (const [field, value, path] of [
    ["allowed_roles", ["*", "admin"], "allowed_roles"],
    ["allowed_roles", "admin", "allowed_roles"],
    ["allowed_roles", [7], "allowed_roles.0"],
    ["allowed_roles", [""], "allowed_roles.0"],
    ["allowed_roles", ["a", "a"], "allowed_roles"],
    ["allowed_roles", ["a\nb"], "allowed_roles.0"],
    ["allowed_permissions", ["x".repeat(257)], "allowed_permissions.0"],
    ["allowed_groups", Array.from({ length: 201 }, (_, at) => `g${at}`), "allowed_groups"],
    ["allowed_claims", ["role"], "allowed_claims.0"],
    ["allowed_claims", ["customer_id"], "allowed_claims.0"],
    ["allowed_claims", ["id"], "allowed_claims.0"],
    ["allowed_claims", ["__proto__"], "allowed_claims.0"],
    ["allowed_claims", ["cost-center"], "allowed_claims.0"],
    ["allowed_claims", ["department", "scope"], "allowed_claims.1"],
    ["allowed_claims", ["principal_type"], "allowed_claims.0"],
    ["role_mapping", null, "role_mapping"],
    ["role_mapping", { g: "admin" }, "role_mapping.g"],
    ["role_mapping", { g: [] }, "role_mapping.g"],
    ["role_mapping", { g: ["*"] }, "role_mapping.g.0"],
    ["role_mapping", { "*": ["admin"] }, "role_mapping.*"],
  ] as const)
    it(`are not permitted by ${field}: ${JSON.stringify(value).slice(0, 40)}`, async () => {
      const refused = await put(victim, { [field]: value });
      assert.deepEqual(told(refused), [422, "VALIDATION_FAILED"]);
      assert.deepEqual(refused.body.error.details.fields[0].path, path);
    });
});
