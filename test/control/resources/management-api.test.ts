import assert from "node:assert/strict";
import { idpBody, startSpecified, type Specified } from "../support/specified.ts";

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const AUTHENTICATION = {
  name: "MFA",
  description: "asks for more",
  type: "authentication",
  conditions: { mfa_required: true, max_session_duration: 28800 },
};
const POLICY = { name: "p", description: "d", type: "authentication", conditions: { mfa_required: true } };

describe("the management API, specification 2.2 to 2.4, 3, 4.2, 4.3 and 9", () => {
  let api: Specified;
  let customer: string;
  before(async () => {
    api = await startSpecified();
    customer = await api.customer();
  });
  after(() => api.close());

  it("2.2 customer: id, name, status, created_at; the id is customer_id elsewhere", async () => {
    const customer = await api.data("POST", "/customers", { name: "Acme" });
    assert.equal(typeof customer.id, "string");
    assert.equal(customer.name, "Acme");
    assert.equal(customer.status, "active");
    assert.match(customer.created_at, ISO_UTC);
    const user = await api.data("POST", `/customers/${customer.id}/users`, { subject: "s" });
    assert.equal(user.customer_id, customer.id);
  });

  it("2.3 customer IDP configuration: type, domain, client_id, client_secret, scopes", async () => {
    const { id } = await api.data("POST", "/customers", { name: "Acme" });
    const sent = idpBody(api.provider);
    const { client_secret: secret, domain, ...shown } = sent;
    const answer = await api.call("POST", `/customers/${id}/idp`, sent);
    assert.equal(answer.status, 201, answer.text);
    const { type, client_id, scopes, ...rest } = answer.body.data;
    assert.deepEqual({ type, client_id, scopes }, shown);
    assert.equal(rest.issuer, domain);
    assert.ok(!answer.text.includes(String(secret)), "the secret is not answered");
    for (const name of ["type", "domain", "client_id", "client_secret"]) {
      const { status, body } = await api.call("POST", `/customers/${id}/idp`, { ...sent, [name]: undefined });
      assert.equal(status, 422, name);
      assert.equal(body.error.details.fields[0].path, name);
    }
  });

  it("2.4 policy: name, description, type, conditions.mfa_required, conditions.max_session_duration", async () => {
    const answer = await api.call("POST", "/policies", AUTHENTICATION);
    assert.equal(answer.status, 201);
    const { name, description, type, conditions } = answer.body.data;
    assert.deepEqual({ name, description, type, conditions }, AUTHENTICATION);
    for (const bad of [{ mfa_required: "yes" }, { max_session_duration: "28800" }, { other: true }])
      assert.equal((await api.call("POST", "/policies", { ...AUTHENTICATION, conditions: bad })).status, 422);
  });

  describe("3 states and transitions", () => {
    it("customer status: active at first, and a filter", async () => {
      const { id, status } = await api.data("POST", "/customers", { name: "active one" });
      assert.equal(status, "active");
      const active = await api.data("GET", "/customers?status=active&name=active%20one");
      assert.deepEqual(
        active.map((customer: { id: string }) => customer.id),
        [id],
      );
    });
    for (const [from, to, status] of [
      ["active", "suspended", 200],
      ["suspended", "active", 200],
      ["active", "archived", 200],
      ["suspended", "archived", 200],
      ["archived", "active", 200],
      ["archived", "suspended", 409],
    ] as const)
      it(`customer status: from ${from} to ${to} is ${status === 200 ? "a transition" : "refused"}`, async () => {
        const { id } = await api.data("POST", "/customers", { name: "moves" });
        if (from !== "active") await api.data("PUT", `/customers/${id}`, { status: from });
        const answer = await api.call("PUT", `/customers/${id}`, { status: to });
        assert.equal(answer.status, status, answer.text);
        const { status: now } = await api.data("GET", `/customers/${id}`);
        assert.equal(now, status === 200 ? to : from);
      });
  });

  describe("4.2 customer management API", () => {
    it("GET /customers: lists customers; paginated", async () => {
      const { status, body } = await api.call("GET", "/customers");
      assert.equal(status, 200);
      assert.ok(body.data.some(({ id }: { id: string }) => id === customer));
      assert.equal(body.pagination.total_items, body.data.length);
    });
    it("POST /customers: creates a customer", async () => {
      const answer = await api.call("POST", "/customers", { name: "New" });
      assert.equal(answer.status, 201);
      const { name } = await api.data("GET", `/customers/${answer.body.data.id}`);
      assert.equal(name, "New");
    });
    it("PUT /customers/{id}: updates a customer", async () => {
      const { id } = await api.data("POST", "/customers", { name: "Old" });
      const { name } = await api.data("PUT", `/customers/${id}`, { name: "Renamed" });
      assert.equal(name, "Renamed");
      assert.equal((await api.data("GET", `/customers/${id}`)).name, "Renamed");
    });
    it("POST /customers/{id}/idp: configures the IDP of a customer", async () => {
      const { issuer } = await api.data("GET", `/customers/${customer}/idp`);
      assert.equal(issuer, api.provider.issuer);
    });
  });

  describe("4.3 policy management API", () => {
    it("GET /policies: lists policies", async () => {
      const { id } = await api.data("POST", "/policies", POLICY);
      const listed = await api.data("GET", "/policies");
      assert.ok(listed.some((policy: { id: string }) => policy.id === id));
    });
    it("POST /policies: creates a policy", async () => {
      const { status, body } = await api.call("POST", "/policies", POLICY);
      assert.equal(status, 201);
      assert.equal(body.data.name, "p");
    });
    it("PUT /policies/{id}: updates a policy", async () => {
      const { id } = await api.data("POST", "/policies", POLICY);
      await api.data("PUT", `/policies/${id}`, { conditions: { max_session_duration: 600 } });
      const { conditions } = await api.data("GET", `/policies/${id}`);
      assert.deepEqual(conditions, { max_session_duration: 600 });
    });
    it("POST /customers/{id}/policies: assigns policies to a customer", async () => {
      const { id } = await api.data("POST", "/policies", POLICY);
      const other = await api.data("POST", "/customers", { name: "With a policy" });
      await api.data("POST", `/customers/${other.id}/policies`, { policy_ids: [id] });
      const assigned = await api.data("GET", `/customers/${other.id}/policies`);
      assert.deepEqual(
        assigned.map((policy: { id: string }) => policy.id),
        [id],
      );
    });
  });

  describe("9 versioning", () => {
    it("policy sets are named and versioned", async () => {
      const file = (version: string) => [{ name: "main.yaml", text: `version: ${version}\npolicies: []\n` }];
      for (const version of ["v1", "v2"])
        await api.data("POST", "/policy-sets", { name: "versioned", files: file(version) });
      const { active_version, versions } = await api.data("GET", "/policy-sets/versioned");
      assert.deepEqual([active_version, versions], ["v2", 2]);
    });
  });
});
