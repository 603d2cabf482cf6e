import assert from "node:assert/strict";
import { requireCustomer } from "../../../../src/control/tenancy/customers.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { assignPolicies } from "../../../../src/control/resources/policies/assignments.ts";
import {
  customerStatesOf,
  unusualCustomerStatesAfter,
} from "../../../../src/control/resources/policies/customer-states.ts";
import { FULL_KEY } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import { lockWaits } from "../../../support/lock-waits.ts";
import { refusal, startManagement, type Management } from "../../support/management.ts";

const NONE = "pol_00000000000000000000000000";

describe("policies of customers", () => {
  let api: Management;
  let now = Date.parse("2026-03-01T12:00:00.000Z");
  before(async () => {
    api = await startManagement({ clock: () => now });
    const at = new Date(now);
    for (const name of ["strict", "audit"])
      await api.database
        .db("policy_sets")
        .insert({ name, activated: ["v1"], created_at: at, updated_at: at });
  });
  after(() => api.close());
  beforeEach(() => {
    api.forget();
  });

  const assign = (id: string, ...policy_ids: string[]) =>
    api.request("POST", `/customers/${id}/policies`, { body: { policy_ids } });
  const unassign = (id: string, policyId: string) =>
    api.request("DELETE", `/customers/${id}/policies/${policyId}`);
  const ids = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id);
  const standing = async (id: string) => (await customerStatesOf(api.database.db, [id])).get(id);

  it("assigns several, keeps those that there are, and answers all", async () => {
    const customer = await api.customer();
    const [a, b, c] = [await api.policy(), await api.policy(), await api.policy()];
    api.forget();
    const first = await assign(customer.id, b.id, a.id);
    assert.equal(first.status, 200);
    assert.deepEqual(ids(first).sort(), [a.id, b.id].sort());
    assert.equal(first.body.data[0].assigned_at, new Date(now).toISOString());
    assert.deepEqual(api.told, [{ type: "customer_changed", customer_id: customer.id }]);
    assert.deepEqual(
      api.events.map(({ type, data }) => [type, data.detail]),
      [["customer.updated", "policies"]],
    );
    assert.deepEqual(
      api.changes.map(({ action, customerId }) => [action, customerId]),
      [["policy.assigned", customer.id]],
    );
    now += 1_000;
    const second = await assign(customer.id, c.id, a.id);
    assert.deepEqual(ids(second).at(-1), c.id);
    assert.equal(second.body.data.length, 3);
    const change = api.changes.at(-1);
    assert.equal((change?.before?.["policy_ids"] as string[]).length, 2);
    assert.deepEqual((change?.after?.["policy_ids"] as string[]).at(-1), c.id);
    api.forget();
    assert.equal((await assign(customer.id, a.id, b.id, c.id)).body.data.length, 3);
    assert.deepEqual([...api.changes, ...api.events, ...api.told], []);
  });

  it("assigns all or none", async () => {
    const customer = await api.customer();
    const { id } = await api.policy();
    assert.deepEqual(refusal(await assign(customer.id, NONE, id, newId("policy"))), [
      422,
      "VALIDATION_FAILED",
      "policy_ids.0",
      "policy_ids.2",
    ]);
    assert.equal(
      (await api.request("GET", `/customers/${customer.id}/policies`)).body.pagination.total_items,
      0,
    );
  });

  it("refuses lists that are none", async () => {
    const customer = await api.customer();
    const { id } = await api.policy();
    for (const [body, ...paths] of [
      [{}, "policy_ids"],
      [{ policy_ids: [] }, "policy_ids"],
      [{ policy_ids: id }, "policy_ids"],
      [{ policy_ids: [id, id] }, "policy_ids"],
      [{ policy_ids: ["x", 7] }, "policy_ids.0", "policy_ids.1"],
      [{ policy_ids: [customer.id] }, "policy_ids.0"],
      [{ policy_ids: Array.from({ length: 101 }, () => newId("policy")) }, "policy_ids"],
      [{ policy_ids: [id], replace: true }, "replace"],
    ] as const) {
      const answer = await api.request("POST", `/customers/${customer.id}/policies`, { body });
      assert.deepEqual(refusal(answer), [422, "VALIDATION_FAILED", ...paths]);
    }
  });

  it("has a bound of 100 for a customer, under requests at once too", async () => {
    const customer = await api.customer();
    const policies = await Promise.all(Array.from({ length: 101 }, () => api.policy()));
    const all = policies.map(({ id }) => id);
    assert.equal((await assign(customer.id, ...all.slice(0, 99))).status, 200);
    const both = await Promise.all([assign(customer.id, all[99]!), assign(customer.id, all[100]!)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    const refused = both.find(({ status }) => status === 409);
    assert.deepEqual(refused?.body.error.details, { customer_id: customer.id, assigned: 100, limit: 100 });
  });

  it("unassigns, and says that what is not assigned is not found", async () => {
    const customer = await api.customer();
    const [a, b] = [await api.policy(), await api.policy()];
    await assign(customer.id, a.id);
    api.forget();
    const answer = await unassign(customer.id, a.id);
    assert.deepEqual(answer.body.data, { customer_id: customer.id, policy_id: a.id, assigned: false });
    assert.deepEqual(api.told, [{ type: "customer_changed", customer_id: customer.id }]);
    assert.equal(api.changes[0]?.action, "policy.unassigned");
    for (const id of [a.id, b.id, NONE, "x"])
      assert.deepEqual(refusal(await unassign(customer.id, id)), [404, "POLICY_NOT_FOUND"]);
    assert.equal((await api.request("GET", `/policies/${a.id}`)).status, 200);
  });

  it("lists a customer's policies and a policy's customers", async () => {
    const customers = [await api.customer({ name: "One" }), await api.customer({ name: "Two" })];
    const [a, b] = [await api.policy({ name: "A" }), await api.policy({ name: "B", status: "inactive" })];
    for (const { id } of customers) {
      await assign(id, a.id);
      now += 1_000;
    }
    await assign(customers[0]!.id, b.id);
    const path = `/customers/${customers[0]!.id}/policies`;
    const list = await api.request("GET", path);
    assert.deepEqual(ids(list), [b.id, a.id]);
    assert.deepEqual(list.body.pagination, {
      current_page: 1,
      total_pages: 1,
      total_items: 2,
      page_size: 20,
    });
    assert.deepEqual(ids(await api.request("GET", `${path}?sort=name&order=asc&limit=1&page=2`)), [b.id]);
    assert.deepEqual(ids(await api.request("GET", `${path}?status=active&type=authentication`)), [a.id]);
    const held = await api.request("GET", `/policies/${a.id}/customers?limit=1&page=2&order=asc`);
    assert.deepEqual(
      held.body.data.map(({ id, name, status }: Record<string, string>) => [id, name, status]),
      [[customers[1]!.id, "Two", "active"]],
    );
    assert.equal(held.body.pagination.total_items, 2);
    assert.deepEqual(refusal(await api.request("GET", `/policies/${NONE}/customers`)), [
      404,
      "POLICY_NOT_FOUND",
    ]);
    assert.deepEqual(refusal(await api.request("GET", "/customers/cus_x/policies")), [
      404,
      "INVALID_CUSTOMER",
    ]);
  });

  it("has the feed of gateways name each customer of a policy that changes, and no other", async () => {
    const customers = await Promise.all(Array.from({ length: 5 }, () => api.customer()));
    const { id } = await api.policy();
    for (const customer of customers.slice(0, 4)) await assign(customer.id, id);
    await api.request("DELETE", `/customers/${customers[3]!.id}`);
    const { db } = api.database;
    const since = async () =>
      ((await db("gateway_changes").max({ seq: "seq" }).first()) as { seq: number }).seq;
    const before = await since();
    await api.request("PUT", `/policies/${id}`, { body: { conditions: { max_session_duration: 60 } } });
    const rows = await db("gateway_changes").where("seq", ">", before).select("type", "customer_id");
    assert.deepEqual(
      new Set(rows.map((row) => row.customer_id)),
      new Set(customers.slice(0, 3).map((c) => c.id)),
    );
    assert.ok(rows.every((row) => row.type === "customer_changed"));
    const last = await since();
    await api.request("PUT", `/policies/${id}`, { body: { name: "Renamed" } });
    assert.equal(await since(), last);
  });

  it("names a customer that gets a policy while it changes: the change waits for the assignment", async () => {
    const { db } = api.database;
    const { id } = await api.policy();
    const customer = await api.customer();
    const row = await requireCustomer(db, FULL_KEY, customer.id, "path");
    const origin = { actor: FULL_KEY, requestId: "req_test", clientIp: "127.0.0.1" };
    const update = await api.context.units(origin, async (unit) => {
      await assignPolicies(unit, row, [id]);
      const body = { conditions: { max_session_duration: 61 } };
      const pending = api.request("PUT", `/policies/${id}`, { body });
      await eventually("the update to wait", async () => (await lockWaits(db)).length > 0);
      return { pending };
    });
    assert.equal((await update.pending).status, 200);
    const rows = await db("gateway_changes").where({ customer_id: customer.id }).orderBy("seq").select("tag");
    // one of the assignment, one of the update
    assert.equal(new Set(rows.map(({ tag }) => String(tag))).size, 2);
  });

  it("makes one of an assignment and a deletion of the policy at once", async () => {
    for (let round = 0; round < 10; round += 1) {
      const customer = await api.customer();
      const { id } = await api.policy();
      const [assigned, deleted] = await Promise.all([
        assign(customer.id, id),
        api.request("DELETE", `/policies/${id}`),
      ]);
      const outcome = [assigned.status, deleted.status];
      assert.ok(
        [
          [200, 409],
          [422, 200],
        ].some((each) => String(each) === String(outcome)),
        String(outcome),
      );
    }
  });

  describe("the state of customers", () => {
    it("is what status and active policies make of it, the strictest of each", async () => {
      const { id } = await api.customer();
      const none = { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] };
      assert.deepEqual(await standing(id), { id, status: "active", authentication: none, policy_sets: [] });
      const policies = [
        await api.policy({ conditions: { mfa_required: false, max_session_duration: 3600 } }),
        await api.policy({
          conditions: { mfa_required: true, max_session_duration: 600, allowed_email_domains: ["a.example"] },
        }),
        await api.policy({
          conditions: { allowed_ip_ranges: ["10.0.0.0/8"], allowed_email_domains: ["b.example"] },
        }),
        await api.policy({ type: "authorization", conditions: { policy_set: "strict" } }),
        await api.policy({ type: "authorization", conditions: { policy_set: "strict" } }),
        await api.policy({ type: "authorization", conditions: { policy_set: "audit" } }),
      ];
      await assign(id, ...policies.map((policy) => policy.id));
      assert.deepEqual(await standing(id), {
        id,
        status: "active",
        authentication: {
          mfa_required: true,
          max_session_duration: 600,
          allowed_email_domains: [["a.example"], ["b.example"]],
          allowed_ip_ranges: [["10.0.0.0/8"]],
        },
        policy_sets: ["audit", "strict"],
      });
      await api.request("PUT", `/policies/${policies[1]!.id}`, { body: { status: "inactive" } });
      const relaxed = await standing(id);
      assert.deepEqual(
        [relaxed?.authentication.mfa_required, relaxed?.authentication.max_session_duration],
        [false, 3600],
      );
      await api.request("PUT", `/customers/${id}`, { body: { status: "suspended" } });
      assert.equal((await standing(id))?.status, "suspended");
      await api.request("DELETE", `/customers/${id}`);
      assert.deepEqual(await standing(id), { id, status: "deleted", authentication: none, policy_sets: [] });
    });

    it("is read for many at once, and missing for those that never were", async () => {
      const [a, b] = [await api.customer(), await api.customer({ status: "suspended" })];
      const found = await customerStatesOf(api.database.db, [
        a.id,
        "cus_none",
        b.id,
        "'; drop table customers",
      ]);
      assert.deepEqual(
        [...found].map(([id, { status }]) => [id, status]).sort(),
        [
          [a.id, "active"],
          [b.id, "suspended"],
        ].sort(),
      );
      assert.equal((await customerStatesOf(api.database.db, [])).size, 0);
    });

    it("matters of those that are not ordinary, and of the deleted for two days", async () => {
      const ordinary = await api.customer();
      const suspended = await api.customer({ status: "suspended" });
      const archived = await api.customer();
      await api.request("PUT", `/customers/${archived.id}`, { body: { status: "archived" } });
      const held = await api.customer();
      const { id } = await api.policy({ conditions: { max_session_duration: 77 } });
      await assign(held.id, id);
      const deleted = await api.customer({ status: "suspended" });
      await api.request("DELETE", `/customers/${deleted.id}`);
      const at = async (time: number) => {
        const all = (await unusualCustomerStatesAfter(api.database.db, new Date(time), "", 10_000)).states;
        return new Map(all.map((each) => [each.id, each]));
      };
      const found = await at(now);
      assert.equal(found.has(ordinary.id), false);
      assert.equal(found.get(suspended.id)?.status, "suspended");
      assert.equal(found.get(archived.id)?.status, "archived");
      assert.equal(found.get(deleted.id)?.status, "deleted");
      assert.equal(found.get(held.id)?.authentication.max_session_duration, 77);
      assert.deepEqual(found.get(held.id), await standing(held.id));
      const later = await at(now + 2 * 86_400_000 + 1);
      assert.equal(later.has(deleted.id), false);
      assert.equal(later.has(suspended.id), true);
    });
  });
});
