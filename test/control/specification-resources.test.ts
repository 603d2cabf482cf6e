import assert from "node:assert/strict";
import type { AuditRecord } from "../../src/protocol/record.ts";
import { BACK, idpBody, startSpecified, type Specified } from "./support/specified.ts";
import { decisionRecord } from "./support/gateway-records.ts";

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const AUTHENTICATION = {
  name: "MFA",
  description: "asks for more",
  type: "authentication",
  conditions: { mfa_required: true, max_session_duration: 28800 },
};

describe("specification 2, 3: resources and their fields", () => {
  let api: Specified;
  before(async () => {
    api = await startSpecified();
  });
  after(() => api.close());

  describe("2.1 response envelope", () => {
    it("success, data, meta.timestamp, meta.request_id: on success", async () => {
      const { body } = await api.call("POST", "/customers", { name: "a" });
      assert.deepEqual(Object.keys(body as object).sort(), ["data", "meta", "success"]);
      assert.equal(body.success, true);
      assert.deepEqual(Object.keys(body.meta as object).sort(), ["request_id", "timestamp"]);
      assert.match(body.meta.timestamp, ISO_UTC);
      assert.equal(typeof body.meta.request_id, "string");
    });
    it("success, error, meta: on failure", async () => {
      const { body } = await api.call("GET", "/customers/none");
      assert.deepEqual(Object.keys(body as object).sort(), ["error", "meta", "success"]);
      assert.equal(body.success, false);
      assert.match(body.meta.timestamp, ISO_UTC);
    });
    it("data is an array, and pagination is there, on lists", async () => {
      const { body } = await api.call("GET", "/customers");
      assert.deepEqual(Object.keys(body as object).sort(), ["data", "meta", "pagination", "success"]);
      assert.ok(Array.isArray(body.data));
    });
  });

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

  it("2.5 authentication flow start: customer_id, return_url, scopes -> authorization_url, state, expires_in", async () => {
    const customer_id = await api.customer();
    const data = await api.data("POST", "/auth/authorize", {
      customer_id,
      return_url: BACK,
      scopes: ["profile", "email", "groups"],
    });
    assert.deepEqual(Object.keys(data as object).sort(), ["authorization_url", "expires_in", "state"]);
    const url = new URL(data.authorization_url as string);
    assert.equal(url.origin, api.provider.issuer);
    assert.deepEqual(url.searchParams.get("scope")?.split(" ").sort(), [
      "email",
      "groups",
      "openid",
      "profile",
    ]);
    assert.equal(typeof data.state, "string");
    assert.equal(data.expires_in, 600);
    for (const missing of ["customer_id", "return_url"]) {
      const body = { customer_id, return_url: BACK, [missing]: undefined };
      assert.equal((await api.call("POST", "/auth/authorize", body)).status, 422);
    }
  });

  it("2.6 webhook registration: url, events, secret", async () => {
    const sent = {
      url: "http://127.0.0.1:9/hook",
      events: ["user.authenticated", "policy.violated"],
      secret: "chosen-by-the-caller",
    };
    const answer = await api.call("POST", "/webhooks", sent);
    assert.equal(answer.status, 201, answer.text);
    const { url, events, secret } = answer.body.data;
    assert.deepEqual({ url, events, secret }, sent);
    const short = await api.call("POST", "/webhooks", { ...sent, secret: "s3cr3t!?" });
    assert.deepEqual([short.status, short.body.data.secret], [201, "s3cr3t!?"]);
    for (const bad of [{ url: "no url" }, { events: ["no.event"] }, { events: [] }, { secret: 7 }])
      assert.equal((await api.call("POST", "/webhooks", { ...sent, ...bad })).status, 422);
  });

  it("2.7 pagination object: current_page, total_pages, total_items, page_size", async () => {
    for (const name of ["one", "two", "three"])
      await api.data("POST", "/customers", { name: `page ${name}` });
    const { body } = await api.call("GET", "/customers?name=page&limit=2&page=2");
    assert.deepEqual(body.pagination, { current_page: 2, total_pages: 2, total_items: 3, page_size: 2 });
    assert.equal(body.data.length, 1);
  });

  describe("2.8 gateway audit record, taken in and read back", () => {
    const record = decisionRecord({ request_id: "req-2.8", timestamp: new Date().toISOString() });
    let read: Readonly<Record<string, unknown>>;
    before(async () => {
      const taken = await api.data("POST", "/gateway/records", { records: [record] });
      assert.deepEqual(taken, { accepted: 1, duplicates: 0, rejected: [] });
      const found = await api.data("GET", "/audit/logs?request_id=req-2.8");
      assert.equal(found.length, 1);
      read = found[0];
    });
    const FIELDS = [
      "timestamp",
      "request_id",
      "user_id",
      "resource",
      "action",
      "decision",
      "policy_set",
      "evaluation_time_ms",
      "client_ip",
    ] as const satisfies (keyof AuditRecord)[];
    for (const field of FIELDS)
      it(field, () => {
        assert.equal(read[field], record[field]);
      });
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
    it("decision values: ALLOW, DENY", async () => {
      const at = { timestamp: new Date().toISOString() };
      const [allowed, denied, other] = ["ALLOW", "DENY", "MAYBE"].map((decision) =>
        decisionRecord({ ...at, decision, request_id: "req-3" }),
      );
      const taken = await api.data("POST", "/gateway/records", { records: [allowed, denied, other] });
      assert.deepEqual([taken.accepted, taken.rejected.length], [2, 1]);
      for (const decision of ["ALLOW", "DENY"]) {
        const found = await api.data("GET", `/audit/logs?request_id=req-3&decision=${decision}`);
        assert.deepEqual(
          found.map((one: { decision: string }) => one.decision),
          [decision],
        );
      }
    });
  });
});
