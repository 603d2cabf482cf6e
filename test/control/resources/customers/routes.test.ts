import assert from "node:assert/strict";
import { requireApiKey, statusOfKey } from "../../../../src/control/resources/api-keys/store.ts";
import { idPattern, newId } from "../../../../src/control/platform/ids.ts";
import { insertSession } from "../../../../src/control/resources/sessions/store.ts";
import { upsertOnSignIn } from "../../../../src/control/resources/users/store.ts";
import { FULL_KEY } from "../../../support/control.ts";
import { makeKey } from "../../../support/guarded-control.ts";
import { refusal, startManagement, type Management } from "../../support/management.ts";

const NOBODY = "cus_00000000000000000000000000";

describe("customers", () => {
  let api: Management;
  let now = Date.parse("2026-03-01T12:00:00.000Z");
  before(async () => {
    api = await startManagement({ clock: () => now });
  });
  after(() => api.close());
  beforeEach(() => {
    api.forget();
  });

  const put = (id: string, body: object, options: object = {}) =>
    api.request("PUT", `/customers/${id}`, { body, ...options });

  it("creates a customer with what is given, and the rest by default", async () => {
    const least = await api.request("POST", "/customers", { body: { name: "  Acme GmbH & Co. 株式会社  " } });
    assert.equal(least.status, 201);
    const { id, ...rest } = least.body.data as { id: string };
    assert.match(id, idPattern("customer"));
    assert.equal(least.headers.get("location"), `/v1/customers/${id}`);
    assert.equal(least.headers.get("etag"), `"${id}.1"`);
    assert.deepEqual(rest, {
      name: "Acme GmbH & Co. 株式会社",
      external_id: null,
      status: "active",
      allowed_return_urls: [],
      metadata: {},
      allowed_roles: null,
      allowed_permissions: null,
      allowed_groups: null,
      allowed_claims: null,
      role_mapping: {},
      created_at: "2026-03-01T12:00:00.000Z",
      updated_at: "2026-03-01T12:00:00.000Z",
    });
    const full = {
      name: "Full",
      external_id: "crm/4711",
      status: "suspended",
      allowed_return_urls: ["https://app.example.com/cb?tenant=1", "http://127.0.0.1:3000/cb"],
      metadata: { plan: "gold", seats: 12, trial: false, none: null },
      allowed_roles: ["viewer"],
      allowed_permissions: ["*"],
      allowed_groups: [],
      allowed_claims: ["department"],
      role_mapping: { Ops: ["manager", "viewer"] },
    };
    const made = await api.request("POST", "/customers", { body: full });
    const { id: fullId, created_at, ...given } = made.body.data;
    assert.deepEqual(given, { ...full, updated_at: created_at });
    const read = await api.request("GET", `/customers/${fullId}`);
    assert.deepEqual(read.body.data, made.body.data);
    assert.equal(read.headers.get("etag"), `"${fullId}.1"`);
  });

  it("records a creation, announces it, and tells gateways only of one that is not active", async () => {
    const { id } = await api.customer({ name: "Told" });
    const [change] = api.changes;
    assert.equal(change?.action, "customer.created");
    assert.deepEqual(change.target, { type: "customer", id });
    assert.equal(change.customerId, id);
    assert.deepEqual(change.after?.["name"], "Told");
    const [event] = api.events;
    assert.equal(event?.type, "customer.created");
    assert.equal(event.customerId, id);
    assert.deepEqual(event.data, { customer: { id, name: "Told", status: "active" } });
    assert.deepEqual(api.told, []);
    const late = await api.customer({ status: "suspended" });
    assert.deepEqual(api.told, [{ type: "customer_changed", customer_id: late.id }]);
  });

  it("keeps an external id for one customer at a time", async () => {
    const first = await api.customer({ external_id: "crm-1" });
    const second = await api.request("POST", "/customers", { body: { name: "B", external_id: "crm-1" } });
    assert.deepEqual(refusal(second), [409, "DUPLICATE"]);
    const other = await api.customer({ name: "B" });
    assert.deepEqual(refusal(await put(other.id, { external_id: "crm-1" })), [409, "DUPLICATE"]);
    const found = await api.request("GET", "/customers?external_id=crm-1");
    assert.deepEqual(
      found.body.data.map((each: { id: string }) => each.id),
      [first.id],
    );
    assert.equal((await api.request("DELETE", `/customers/${first.id}`)).status, 200);
    assert.equal((await put(other.id, { external_id: "crm-1" })).status, 200);
    assert.equal((await put(other.id, { external_id: null })).body.data.external_id, null);
  });

  it("updates what is given and leaves the rest, under a new ETag", async () => {
    const { id } = await api.customer({ metadata: { a: 1, b: 2 } });
    api.forget();
    now += 5_000;
    const answer = await put(id, { name: "New", metadata: { b: 3 } });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("etag"), `"${id}.2"`);
    assert.equal(answer.body.data.name, "New");
    assert.deepEqual(answer.body.data.metadata, { b: 3 });
    assert.equal(answer.body.data.status, "active");
    assert.equal(answer.body.data.updated_at, new Date(now).toISOString());
    assert.notEqual(answer.body.data.created_at, answer.body.data.updated_at);
    const [change] = api.changes;
    assert.equal(change?.action, "customer.updated");
    assert.deepEqual(change.before?.["metadata"], { a: 1, b: 2 });
    assert.deepEqual(change.after?.["metadata"], { b: 3 });
    assert.deepEqual(
      api.events.map(({ type, data }) => [type, data.detail]),
      [["customer.updated", "metadata, name"]],
    );
    assert.deepEqual(api.told, []);
  });

  it("changes nothing, and says nothing, where all is so already", async () => {
    const { id } = await api.customer({ name: "Same", metadata: { a: 1 } });
    api.forget();
    const answer = await put(id, { name: "Same", metadata: { a: 1 }, status: "active" });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("etag"), `"${id}.1"`);
    assert.deepEqual([...api.changes, ...api.events, ...api.told], []);
  });

  it("refuses updates without a field, with an unknown one, or with one that is not valid", async () => {
    const { id } = await api.customer();
    assert.deepEqual(refusal(await put(id, {})), [422, "VALIDATION_FAILED", ""]);
    assert.deepEqual(refusal(await put(id, { name: "x", nmae: "x" })), [422, "VALIDATION_FAILED", "nmae"]);
    assert.deepEqual(refusal(await put(id, { status: "deleted" })), [422, "VALIDATION_FAILED", "status"]);
    assert.deepEqual(refusal(await put(id, { name: null })), [422, "VALIDATION_FAILED", "name"]);
    assert.deepEqual(refusal(await put(id, { id: "cus_x" })), [422, "VALIDATION_FAILED", "id"]);
  });

  it("compares If-Match, on update and deletion", async () => {
    const { id } = await api.customer();
    const stale = { headers: { "if-match": `"${id}.7"` } };
    assert.deepEqual(refusal(await put(id, { name: "B" }, stale)), [412, "PRECONDITION_FAILED"]);
    assert.deepEqual(refusal(await api.request("DELETE", `/customers/${id}`, stale)), [
      412,
      "PRECONDITION_FAILED",
    ]);
    assert.equal(
      (await put(id, { name: "B" }, { headers: { "if-match": `"other", "${id}.1"` } })).status,
      200,
    );
    assert.equal((await put(id, { name: "C" }, { headers: { "if-match": `"${id}.1"` } })).status, 412);
    assert.equal((await put(id, { name: "C" }, { headers: { "if-match": "*" } })).status, 200);
  });

  it("lets one of two updates with the same ETag through", async () => {
    const { id } = await api.customer();
    const headers = { "if-match": `"${id}.1"` };
    const both = await Promise.all(["B", "C"].map((name) => put(id, { name }, { headers })));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
  });

  const transitions = [
    ["active", "suspended", 200],
    ["active", "archived", 200],
    ["suspended", "active", 200],
    ["suspended", "archived", 200],
    ["archived", "active", 200],
    ["archived", "suspended", 409],
  ] as const;
  for (const [from, to, status] of transitions) {
    it(`${status === 200 ? "goes" : "does not go"} from ${from} to ${to}`, async () => {
      const { id } = await api.customer();
      if (from !== "active") assert.equal((await put(id, { status: from })).status, 200);
      api.forget();
      const answer = await put(id, { status: to });
      if (status === 409) {
        assert.deepEqual(refusal(answer), [409, "INVALID_TRANSITION"]);
        assert.deepEqual(answer.body.error.details, { from, to, allowed: ["active"] });
        assert.deepEqual(api.told, []);
        return;
      }
      assert.equal(answer.body.data.status, to);
      assert.deepEqual(
        api.events.map(({ type }) => type),
        ["customer.updated", ...(to === "suspended" ? ["customer.suspended"] : [])],
      );
      assert.deepEqual(api.told, [{ type: "customer_changed", customer_id: id }]);
    });
  }

  it("deletes softly: it is not found any more, and its number is not given again", async () => {
    const { id } = await api.customer({ name: "Gone" });
    api.forget();
    const gone = await api.request("DELETE", `/customers/${id}`);
    assert.deepEqual([gone.status, gone.body.data], [200, { id, deleted: true }]);
    assert.deepEqual(
      api.changes.map(({ action, before }) => [action, before?.["name"]]),
      [["customer.deleted", "Gone"]],
    );
    assert.deepEqual(
      api.events.map(({ type, data }) => [type, data.customer?.status]),
      [["customer.updated", "deleted"]],
    );
    assert.deepEqual(api.told, [{ type: "customer_changed", customer_id: id }]);
    for (const method of ["GET", "DELETE"])
      assert.deepEqual(refusal(await api.request(method, `/customers/${id}`)), [404, "INVALID_CUSTOMER"]);
    assert.deepEqual(refusal(await put(id, { name: "B" })), [404, "INVALID_CUSTOMER"]);
    const row = await api.database.db("customers").where({ id }).first("deleted_at");
    assert.ok(row.deleted_at instanceof Date);
  });

  it("revokes the API keys of a customer that is deleted, and no others", async () => {
    const [one, other] = [await api.customer(), await api.customer()];
    const keys = [];
    for (const customerId of [one.id, other.id, undefined])
      keys.push(await makeKey(api, { ...(customerId !== undefined && { customerId }) }));
    api.forget();
    await api.request("DELETE", `/customers/${one.id}`);
    const rows = await Promise.all(keys.map(({ row }) => requireApiKey(api.context.db, row.id)));
    assert.deepEqual(
      rows.map((row) => statusOfKey(row, new Date(now))),
      ["revoked", "active", "active"],
    );
    const [revoked] = api.changes.filter(({ action }) => action === "api_key.revoked");
    assert.equal(revoked?.target.id, keys[0]?.row.id);
  });

  for (const status of ["suspended", "archived", "deleted"] as const) {
    it(`ends the sessions of a customer that is ${status}, and of no other`, async () => {
      const [one, other] = [await api.customer(), await api.customer()];
      for (const { id } of [one, other]) await signIn(id);
      api.forget();
      if (status === "deleted") await api.request("DELETE", `/customers/${one.id}`);
      else await put(one.id, { status });
      const rows = await api.database.db("sessions").orderBy("id").select("customer_id", "end_reason");
      const reasons = Object.fromEntries(rows.map((row) => [row.customer_id, row.end_reason]));
      assert.equal(reasons[one.id], `customer_${status}`);
      assert.equal(reasons[other.id], null);
      assert.ok(
        api.events.some(({ type, customerId }) => type === "session.revoked" && customerId === one.id),
      );
      assert.ok(api.told.some(({ type }) => type === "session_ended"));
    });
  }

  /** A session whose last token is valid still. */
  function signIn(customerId: string): Promise<void> {
    const origin = { actor: FULL_KEY, requestId: "req_test", clientIp: "127.0.0.1" };
    return api.context.units(origin, async (unit) => {
      const user = await upsertOnSignIn(unit, {
        customerId,
        issuer: "https://idp.example",
        subject: "s",
        profile: {},
        claimed: {},
      });
      const later = new Date(now + 3_600_000);
      const id = newId("session");
      await insertSession(unit.trx, {
        id,
        customer_id: customerId,
        user_id: user.id,
        client_id: FULL_KEY.id,
        end_session_url: null,
        id_token: null,
        scope: "openid",
        auth_time: null,
        amr: [],
        acr: null,
        ip_address: "192.0.2.1",
        user_agent: "test",
        created_at: unit.now,
        last_used_at: unit.now,
        expires_at: later,
        alive_until: later,
      });
      await unit.trx("sessions").where({ id }).update({ last_token_expires_at: later });
    });
  }

  it("answers 404 for whatever is no customer's id", async () => {
    for (const id of [
      NOBODY,
      "x",
      "'; drop table customers; --",
      "%00".slice(0, 1) + "25",
      "pol_00000000000000000000000000",
    ]) {
      const answer = await api.request("GET", `/customers/${encodeURIComponent(id)}`);
      assert.deepEqual(refusal(answer), [404, "INVALID_CUSTOMER"], id);
    }
  });

  it("creates one customer for an Idempotency-Key, however often it comes at once", async () => {
    const headers = { "idempotency-key": "once" };
    const body = { name: "Once only" };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.request("POST", "/customers", { body, headers })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201, 201, 201],
    );
    assert.equal(new Set(answers.map((answer) => answer.body.data.id)).size, 1);
    const listed = await api.request("GET", "/customers?name=once%20only");
    assert.equal(listed.body.pagination.total_items, 1);
    const other = await api.request("POST", "/customers", { body: { name: "Other" }, headers });
    assert.deepEqual(refusal(other), [422, "IDEMPOTENCY_KEY_REUSED"]);
  });

  it("keeps nothing of a change whose records cannot be written", async () => {
    const broken = await startManagement({
      database: api.database,
      writers: { changes: () => Promise.reject(new Error("the audit trail is away")) },
    });
    const { id } = await api.customer({ name: "Steady" });
    const counted = () => api.request("GET", "/customers?limit=1");
    const before = (await counted()).body.pagination.total_items;
    for (const [method, path, body] of [
      ["POST", "/customers", { name: "x" }],
      ["PUT", `/customers/${id}`, { name: "x" }],
      ["DELETE", `/customers/${id}`],
    ] as const) {
      const answer = await broken.request(method, path, body && { body });
      assert.deepEqual(refusal(answer), [500, "INTERNAL_ERROR"]);
    }
    await broken.close();
    assert.equal((await counted()).body.pagination.total_items, before);
    assert.equal((await api.request("GET", `/customers/${id}`)).body.data.name, "Steady");
  });
});
