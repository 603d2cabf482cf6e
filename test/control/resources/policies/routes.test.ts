import assert from "node:assert/strict";
import { idPattern, newId } from "../../../../src/control/platform/ids.ts";
import { FULL_KEY } from "../../../support/control.ts";
import { keyOf, refusal, startManagement, type Management } from "../../support/management.ts";

const NONE = "pol_00000000000000000000000000";

describe("policies", () => {
  let api: Management;
  before(async () => {
    api = await startManagement();
    const at = new Date();
    await api.database.db("policy_sets").insert([
      { name: "strict", activated: ["v1"], created_at: at, updated_at: at },
      { name: "idle", activated: [], created_at: at, updated_at: at },
    ]);
  });
  after(() => api.close());
  beforeEach(() => {
    api.forget();
  });

  const put = (id: string, body: object, options: object = {}) =>
    api.request("PUT", `/policies/${id}`, { body, ...options });
  const post = (body: unknown) => api.request("POST", "/policies", { body });
  const authentication = (conditions: unknown) => ({ name: "P", type: "authentication", conditions });

  it("takes the specification's example", async () => {
    const body = {
      name: "MFA Required",
      description: "Require MFA\nfor all users",
      type: "authentication",
      conditions: { mfa_required: true, max_session_duration: 28800 },
    };
    const answer = await post(body);
    assert.equal(answer.status, 201);
    const { id, created_at, updated_at, ...data } = answer.body.data;
    assert.match(id, idPattern("policy"));
    assert.deepEqual(data, { ...body, status: "active", assign_to_new_customers: false });
    assert.equal(created_at, updated_at);
    assert.equal(answer.headers.get("location"), `/v1/policies/${id}`);
    assert.equal(answer.headers.get("etag"), `"${id}.1"`);
    const read = await api.request("GET", `/policies/${id}`);
    assert.deepEqual(read.body.data, answer.body.data);
    assert.deepEqual(
      api.changes.map(({ action, target }) => [action, target]),
      [["policy.created", { type: "policy", id }]],
    );
    assert.deepEqual([...api.events, ...api.told], []);
  });

  it("keeps domains and ranges in the one way to write them", async () => {
    const { conditions } = await api.policy({
      conditions: {
        allowed_email_domains: ["Example.COM", "bücher.example"],
        allowed_ip_ranges: ["192.0.2.0/24", "198.51.100.7", "2001:DB8::/32", "2001:db8:0:0::1", "0.0.0.0/0"],
      },
    });
    assert.deepEqual(conditions, {
      allowed_email_domains: ["example.com", "xn--bcher-kva.example"],
      allowed_ip_ranges: ["192.0.2.0/24", "198.51.100.7", "2001:db8::/32", "2001:db8::1", "0.0.0.0/0"],
    });
  });

  const domain = (text: unknown) => authentication({ allowed_email_domains: [text] });
  const range = (text: unknown) => authentication({ allowed_ip_ranges: [text] });
  const domains = "conditions.allowed_email_domains";
  const ranges = "conditions.allowed_ip_ranges";
  const invalid: readonly (readonly [body: unknown, ...paths: string[]])[] = [
    [{ ...authentication({ mfa_required: true }), name: "" }, "name"],
    [{ ...authentication({ mfa_required: true }), type: "Authentication" }, "type"],
    [{ ...authentication({ mfa_required: true }), status: "off" }, "status"],
    [{ ...authentication({ mfa_required: true }), description: "x".repeat(2001) }, "description"],
    [{ ...authentication({ mfa_required: true }), extra: 1 }, "extra"],
    [{ name: "P", conditions: {} }, "type"],
    [{ name: "P", type: "authentication" }, "conditions"],
    [authentication({}), "conditions"],
    [authentication([]), "conditions"],
    [authentication({ mfa: true }), "conditions.mfa"],
    [authentication({ mfa_required: "true" }), "conditions.mfa_required"],
    [authentication({ mfa_required: null }), "conditions.mfa_required"],
    [authentication({ mfa_required: true, policy_set: "strict" }), "conditions.policy_set"],
    [authentication({ max_session_duration: 59 }), "conditions.max_session_duration"],
    [authentication({ max_session_duration: 31_536_001 }), "conditions.max_session_duration"],
    [authentication({ max_session_duration: 60.5 }), "conditions.max_session_duration"],
    [authentication({ max_session_duration: "28800" }), "conditions.max_session_duration"],
    [authentication({ allowed_email_domains: [] }), domains],
    [authentication({ allowed_email_domains: "example.com" }), domains],
    [
      authentication({ allowed_email_domains: Array.from({ length: 101 }, (_, n) => `d${n}.example`) }),
      domains,
    ],
    [domain("@example.com"), `${domains}.0`],
    [domain("*.example.com"), `${domains}.0`],
    [domain("user@example.com"), `${domains}.0`],
    [domain("ex%61mple.com"), `${domains}.0`],
    [domain("localhost"), `${domains}.0`],
    [domain("192.0.2.1"), `${domains}.0`],
    [domain("example..com"), `${domains}.0`],
    [domain("-a.example"), `${domains}.0`],
    [domain(""), `${domains}.0`],
    [domain(7), `${domains}.0`],
    [authentication({ allowed_ip_ranges: [] }), ranges],
    [range("10.0.0.0/33"), `${ranges}.0`],
    [range("2001:db8::/129"), `${ranges}.0`],
    [range("10.0.0.5/8"), `${ranges}.0`],
    [range("2001:db8::1/32"), `${ranges}.0`],
    [range("10.1"), `${ranges}.0`],
    [range("010.0.0.1"), `${ranges}.0`],
    [range("0x7f000001"), `${ranges}.0`],
    [range("::ffff:10.0.0.1"), `${ranges}.0`],
    [range("::ffff:10.0.0.0/104"), `${ranges}.0`],
    [range("fe80::1%eth0"), `${ranges}.0`],
    [range("10.0.0.0/"), `${ranges}.0`],
    [range("10.0.0.0/8/8"), `${ranges}.0`],
    [range("any"), `${ranges}.0`],
    [{ name: "P", type: "authorization", conditions: {} }, "conditions.policy_set"],
    [{ name: "P", type: "authorization", conditions: { policy_set: "" } }, "conditions.policy_set"],
    [{ name: "P", type: "authorization", conditions: { policy_set: "none" } }, "conditions.policy_set"],
    [
      { name: "P", type: "authorization", conditions: { policy_set: "strict", mfa_required: true } },
      "conditions.mfa_required",
    ],
  ];
  for (const [body, ...paths] of invalid) {
    it(`refuses ${JSON.stringify(body).slice(0, 100)}`, async () => {
      assert.deepEqual(refusal(await post(body)), [422, "VALIDATION_FAILED", ...paths]);
    });
  }

  it("takes what stands at the bounds", async () => {
    for (const max_session_duration of [60, 31_536_000])
      assert.equal((await post(authentication({ max_session_duration }))).status, 201);
    assert.equal((await post(authentication({ mfa_required: false }))).status, 201);
    const set = await post({ name: "S", type: "authorization", conditions: { policy_set: "strict" } });
    assert.equal(set.status, 201);
  });

  it("names no policy set that has no active version, until there is one", async () => {
    const conditions = { policy_set: "idle" };
    const refused = await post({ name: "S", type: "authorization", conditions });
    assert.deepEqual(refusal(refused), [422, "POLICY_SET_NOT_ACTIVE"]);
    assert.deepEqual(refused.body.error.details, { policy_set: "idle" });
    const { id } = await api.policy({ type: "authorization", conditions: { policy_set: "strict" } });
    assert.deepEqual(refusal(await put(id, { conditions })), [422, "POLICY_SET_NOT_ACTIVE"]);
    assert.deepEqual((await api.request("GET", `/policies/${id}`)).body.data.conditions, {
      policy_set: "strict",
    });

    // from before this was refused: it can be assigned to nobody, put in force for nobody, and be named and put aside
    const row = { name: "Old", name_key: "old", description: "", type: "authorization", status: "active" };
    const at = new Date();
    const old = { ...row, id: newId("policy"), conditions, created_at: at, updated_at: at, revision: 1 };
    await api.database.db("policies").insert({ ...old, conditions: JSON.stringify(conditions) });
    const customer = await api.customer();
    const both = { body: { policy_ids: [id, old.id] } };
    const assigned = await api.request("POST", `/customers/${customer.id}/policies`, both);
    assert.deepEqual(refusal(assigned), [422, "POLICY_SET_NOT_ACTIVE"]);
    const list = await api.request("GET", `/customers/${customer.id}/policies`);
    assert.equal(list.body.pagination.total_items, 0);
    assert.equal((await put(old.id, { name: "Still old", status: "inactive" })).status, 200);
    assert.deepEqual(refusal(await put(old.id, { status: "active" })), [422, "POLICY_SET_NOT_ACTIVE"]);
    await api.database
      .db("policy_sets")
      .where({ name: "idle" })
      .update({ activated: ["v1"] });
    assert.equal((await put(old.id, { status: "active" })).status, 200);
    assert.equal((await api.request("POST", `/customers/${customer.id}/policies`, both)).status, 200);
  });

  it("updates what is given, announces it, and tells gateways where it is enforced otherwise", async () => {
    const { id } = await api.policy({ name: "A" });
    api.forget();
    const named = await put(id, { name: "B", type: "authentication" });
    assert.deepEqual([named.status, named.headers.get("etag")], [200, `"${id}.2"`]);
    assert.deepEqual(named.body.data.conditions, { mfa_required: true });
    assert.deepEqual(api.told, []);
    assert.deepEqual(
      api.events.map(({ type, data, customerId }) => [type, data, customerId]),
      [["policy.updated", { policy: { id, name: "B", type: "authentication" }, detail: "name" }, undefined]],
    );
    assert.deepEqual([api.changes[0]?.before?.["name"], api.changes[0]?.after?.["name"]], ["A", "B"]);
    const conditions = { max_session_duration: 600 };
    assert.deepEqual((await put(id, { conditions })).body.data.conditions, conditions);
    assert.deepEqual(api.told, [{ type: "policy_changed", policy_id: id }]);
    assert.equal((await put(id, { status: "inactive" })).body.data.status, "inactive");
    assert.equal(api.told.length, 2);
  });

  it("changes nothing, and says nothing, where all is so already", async () => {
    const { id } = await api.policy({ name: "Same" });
    api.forget();
    const answer = await put(id, { name: "Same", conditions: { mfa_required: true } });
    assert.equal(answer.headers.get("etag"), `"${id}.1"`);
    assert.deepEqual([...api.changes, ...api.events, ...api.told], []);
  });

  it("refuses another type, conditions of another type, and what is not valid", async () => {
    const { id } = await api.policy();
    const refused = async (body: object) => refusal(await put(id, body));
    assert.deepEqual(await refused({ type: "authorization" }), [422, "VALIDATION_FAILED", "type"]);
    assert.deepEqual(await refused({ conditions: { policy_set: "strict" } }), [
      422,
      "VALIDATION_FAILED",
      "conditions.policy_set",
    ]);
    assert.deepEqual(await refused({ conditions: {} }), [422, "VALIDATION_FAILED", "conditions"]);
    assert.deepEqual(await refused({ conditions: { max_session_duration: 1 } }), [
      422,
      "VALIDATION_FAILED",
      "conditions.max_session_duration",
    ]);
    assert.deepEqual(await refused({}), [422, "VALIDATION_FAILED", ""]);
    assert.deepEqual(await refused({ id: NONE }), [422, "VALIDATION_FAILED", "id"]);
    const set = await api.policy({ type: "authorization", conditions: { policy_set: "strict" } });
    const other = await put(set.id, { conditions: { policy_set: "none" } });
    assert.deepEqual(refusal(other), [422, "VALIDATION_FAILED", "conditions.policy_set"]);
  });

  it("compares If-Match", async () => {
    const { id } = await api.policy();
    const stale = { headers: { "if-match": `"${id}.9"` } };
    assert.deepEqual(refusal(await put(id, { name: "B" }, stale)), [412, "PRECONDITION_FAILED"]);
    const gone = await api.request("DELETE", `/policies/${id}`, stale);
    assert.deepEqual(refusal(gone), [412, "PRECONDITION_FAILED"]);
    assert.equal((await put(id, { name: "B" }, { headers: { "if-match": `"${id}.1"` } })).status, 200);
  });

  it("is deleted when it holds for nobody, and else refuses with the number of customers", async () => {
    const { id } = await api.policy({ name: "Held" });
    const customers = [await api.customer(), await api.customer()];
    for (const customer of customers)
      await api.request("POST", `/customers/${customer.id}/policies`, { body: { policy_ids: [id] } });
    const refused = await api.request("DELETE", `/policies/${id}`);
    assert.deepEqual(refusal(refused), [409, "CONFLICT"]);
    assert.deepEqual(refused.body.error.details, { policy_id: id, customers: 2 });
    await api.request("DELETE", `/customers/${customers[0]?.id}/policies/${id}`);
    await api.request("DELETE", `/customers/${customers[1]?.id}`);
    api.forget();
    const gone = await api.request("DELETE", `/policies/${id}`);
    assert.deepEqual([gone.status, gone.body.data], [200, { id, deleted: true }]);
    assert.deepEqual(
      api.changes.map(({ action, before }) => [action, before?.["name"]]),
      [["policy.deleted", "Held"]],
    );
    assert.deepEqual(
      api.events.map(({ type, data }) => [type, data.detail]),
      [["policy.updated", "deleted"]],
    );
    assert.deepEqual(refusal(await api.request("GET", `/policies/${id}`)), [404, "POLICY_NOT_FOUND"]);
    assert.deepEqual(refusal(await put(id, { name: "B" })), [404, "POLICY_NOT_FOUND"]);
    assert.deepEqual(refusal(await api.request("DELETE", `/policies/${id}`)), [404, "POLICY_NOT_FOUND"]);
  });

  it("lists by type, status and beginning of the name, in each order", async () => {
    for (const name of ["list b", "List A", "list c"]) await api.policy({ name, status: "inactive" });
    const names = async (query: string) => {
      const { body, status } = await api.request("GET", `/policies?name=LIST&${query}`);
      assert.equal(status, 200);
      assert.equal(body.pagination.total_items, 3);
      return body.data.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await names("sort=name&order=asc"), ["List A", "list b", "list c"]);
    assert.deepEqual(await names("sort=name&order=asc&limit=2&page=2"), ["list c"]);
    assert.deepEqual(await names("status=inactive"), ["list c", "List A", "list b"]);
    const total = async (query: string) =>
      (await api.request("GET", `/policies?${query}`)).body.pagination.total_items as number;
    assert.equal(await total("name=list&status=active"), 0);
    assert.equal(await total("name=list&type=authorization"), 0);
    assert.ok((await total("type=authorization")) > 0);
    for (const query of ["sort=type", "type=other", "status=on", "name=", "customer_id=x"])
      assert.deepEqual(refusal(await api.request("GET", `/policies?${query}`)), [400, "INVALID_PARAMETER"]);
  });

  it("creates one policy for an Idempotency-Key", async () => {
    const headers = { "idempotency-key": "policy-once" };
    const body = authentication({ mfa_required: true });
    const send = () => api.request("POST", "/policies", { body: { ...body, name: "Once" }, headers });
    const [a, b] = await Promise.all([send(), send()]);
    assert.equal(a.body.data.id, b.body.data.id);
    assert.equal((await api.request("GET", "/policies?name=once")).body.pagination.total_items, 1);
  });

  it("asks for a key, and for the scope that each route needs", async () => {
    const { id } = await api.policy();
    for (const [method, path] of [
      ["GET", "/policies"],
      ["POST", "/policies"],
      ["GET", `/policies/${id}`],
      ["PUT", `/policies/${id}`],
      ["DELETE", `/policies/${id}`],
      ["GET", `/policies/${id}/customers`],
    ] as const) {
      assert.deepEqual(refusal(await api.request(method, path, { as: null })), [401, "UNAUTHORIZED"]);
      const signer = { ...FULL_KEY, scope: "authentication" as const };
      assert.deepEqual(refusal(await api.request(method, path, { as: signer })), [403, "INSUFFICIENT_SCOPE"]);
      if (method === "GET") continue;
      const reader = { ...FULL_KEY, scope: "read_only" as const };
      assert.deepEqual(refusal(await api.request(method, path, { as: reader })), [403, "INSUFFICIENT_SCOPE"]);
    }
  });

  it("shows a key of one customer the policies of that customer, and lets it change none", async () => {
    const [own, foreign] = [await api.policy({ name: "Own" }), await api.policy({ name: "Foreign" })];
    const customer = await api.customer();
    await api.request("POST", `/customers/${customer.id}/policies`, { body: { policy_ids: [own.id] } });
    const as = keyOf(customer.id);
    const list = await api.request("GET", "/policies", { as });
    assert.deepEqual(
      list.body.data.map(({ id }: { id: string }) => id),
      [own.id],
    );
    assert.equal(list.body.pagination.total_items, 1);
    assert.equal((await api.request("GET", `/policies/${own.id}`, { as })).status, 200);
    for (const id of [foreign.id, NONE])
      assert.deepEqual(refusal(await api.request("GET", `/policies/${id}`, { as })), [
        404,
        "POLICY_NOT_FOUND",
      ]);
    const forbidden = [403, "CUSTOMER_KEY_NOT_ALLOWED"];
    for (const [method, path, body] of [
      ["POST", "/policies", authentication({ mfa_required: true })],
      ["PUT", `/policies/${own.id}`, { name: "x" }],
      ["PUT", `/policies/${NONE}`, { name: "x" }],
      ["DELETE", `/policies/${own.id}`, undefined],
      ["GET", `/policies/${own.id}/customers`, undefined],
      ["POST", `/customers/${customer.id}/policies`, { policy_ids: [foreign.id] }],
      ["DELETE", `/customers/${customer.id}/policies/${own.id}`, undefined],
    ] as const) {
      const answer = await api.request(method, path, { as, ...(body && { body }) });
      assert.deepEqual(refusal(answer), forbidden, `${method} ${path}`);
    }
  });
});
