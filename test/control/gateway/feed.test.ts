import assert from "node:assert/strict";
import { appendGatewayChanges } from "../../../src/control/gateway/append.ts";
import { pruneGatewayChanges } from "../../../src/control/gateway/prune.ts";
import { MAX_BEHIND } from "../../../src/control/gateway/read-state.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import type { Database } from "../../../src/storage/index.ts";
import { FULL_KEY } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { endOf, FeedInstance, sessionsOf } from "../support/feed-instance.ts";

describe("the gateway feed", () => {
  let database: TestDatabase;
  let db: Database;
  let instance: FeedInstance;

  beforeEach(async () => {
    database = await testDatabase();
    ({ db } = database);
    instance = await FeedInstance.start(database);
  });
  afterEach(async () => {
    await instance.close();
    await database.close();
  });

  describe("complete state", () => {
    it("of a new database is empty, and its cursor can be followed from", async () => {
      const { cursor, ...state } = await instance.read();
      assert.deepEqual(state, {
        complete: true,
        customers: [],
        customers_deleted: [],
        sessions_ended: [],
        users: [],
        policy_sets: [],
      });
      assert.deepEqual(await instance.read(`?after=${cursor}`), { ...state, cursor, complete: false });
      await instance.append(endOf("ses_1"));
      const next = await instance.read(`?after=${cursor}`);
      assert.equal(next.complete, false);
      assert.deepEqual(sessionsOf(next), ["ses_1"]);
    });

    it("holds what is out of the ordinary, and nothing else", async () => {
      const [ordinary, suspended, governed, deleted] = [
        await instance.makeCustomer(),
        await instance.makeCustomer(),
        await instance.makeCustomer(),
        await instance.makeCustomer(),
      ];
      await instance.put(`/customers/${suspended}`, { status: "suspended" });
      const conditions = { mfa_required: true };
      const policy = await instance.post("/policies", { name: "p", type: "authentication", conditions });
      await instance.post(`/customers/${governed}/policies`, { policy_ids: [policy["id"]] });
      await instance.control.request("DELETE", `/customers/${deleted}`);
      const [active, blocked, removed] = [
        await instance.makeUser(ordinary),
        await instance.makeUser(ordinary),
        await instance.makeUser(ordinary),
      ];
      await instance.put(`/users/${active}`, { attributes: { role: "x" } });
      await instance.put(`/users/${blocked}`, { status: "suspended" });
      await instance.control.request("DELETE", `/users/${removed}`);
      await instance.append(endOf("ses_over", -1000), endOf("ses_now"), endOf("ses_now", 90_000));
      const set = await instance.publish("main", "v1");

      const state = await instance.read();
      assert.deepEqual(
        new Map(state.customers.map(({ id, status }) => [id, status])),
        new Map([
          [suspended, "suspended"],
          [governed, "active"],
          [deleted, "deleted"],
        ]),
      );
      assert.equal(state.customers.find(({ id }) => id === governed)?.authentication.mfa_required, true);
      assert.deepEqual(
        new Map(state.users.map(({ id, status }) => [id, status])),
        new Map([
          [blocked, "suspended"],
          [removed, "deleted"],
        ]),
      );
      assert.deepEqual(state.customers_deleted, [deleted]);
      assert.deepEqual(sessionsOf(state), ["ses_now"]);
      assert.deepEqual(state.policy_sets, [{ name: "main", version: "v1", digest: set["digest"] }]);
    });
  });

  describe("increments", () => {
    it("list a customer and a user that are ordinary again", async () => {
      const customer = await instance.makeCustomer();
      const user = await instance.makeUser(customer);
      await instance.put(`/customers/${customer}`, { status: "suspended" });
      await instance.put(`/users/${user}`, { status: "suspended" });
      const { cursor } = await instance.read();
      await instance.put(`/customers/${customer}`, { status: "active" });
      await instance.put(`/users/${user}`, { status: "active" });
      const state = await instance.read(`?after=${cursor}`);
      assert.equal(state.complete, false);
      assert.deepEqual(
        state.customers.map(({ id, status }) => [id, status]),
        [[customer, "active"]],
      );
      assert.deepEqual(state.users, [{ id: user, customer_id: customer, status: "active" }]);
    });

    it("know nothing of what was rolled back", async () => {
      const { cursor } = await instance.read();
      const failing = db.transaction(async (trx) => {
        await appendGatewayChanges(trx, [endOf("ses_1")]);
        throw new Error("undone");
      });
      await assert.rejects(failing, /undone/);
      assert.deepEqual((await instance.read(`?after=${cursor}`)).sessions_ended, []);
    });

    it("take what cannot be found for deleted", async () => {
      const { cursor } = await instance.read();
      await instance.append(
        { type: "customer_changed", customer_id: "cus_gone" },
        { type: "user_changed", user_id: "usr_gone", customer_id: "cus_gone" },
      );
      const state = await instance.read(`?after=${cursor}`);
      assert.equal(state.customers[0]?.status, "deleted");
      assert.deepEqual(state.users, [{ id: "usr_gone", customer_id: "cus_gone", status: "deleted" }]);
    });

    it("become a complete state where there are too many", async () => {
      const { cursor } = await instance.read();
      const end = Number(cursor.split(".")[0]) + MAX_BEHIND;
      await db.raw(`alter table gateway_changes alter column seq restart with ${end}`);
      await instance.append(endOf("ses_1"));
      const state = await instance.read(`?after=${cursor}`);
      assert.equal(state.complete, false);
      assert.deepEqual(sessionsOf(state), ["ses_1"]);
      await instance.append(endOf("ses_more"));
      const more = await instance.read(`?after=${cursor}`);
      assert.equal(more.complete, true);
      assert.deepEqual(sessionsOf(more), ["ses_1", "ses_more"]);
    });
  });

  describe("cursors", () => {
    it("that are none, or of another database, lead to the complete state at once", async () => {
      await instance.append(endOf("ses_1"));
      const { cursor } = await instance.read();
      const [seq = "", tag = ""] = cursor.split(".");
      const other = [
        "",
        "x",
        "1",
        `${seq}.`,
        `${seq}.other`,
        `${Number(seq) + 1}.${tag}`,
        `-1.${tag}`,
        `0.${tag}`,
        `0${seq}.${tag}`,
        `${seq}.${tag}.x`,
        `${seq}.${tag}.${seq}`,
        `${seq}.${tag}.${Number(seq) + 1}`,
        "9".repeat(30),
        `${"9".repeat(20)}.${tag}`,
        "1.'; drop table gateway_changes",
      ];
      for (const after of other) {
        const state = await instance.read(`?wait=30&after=${encodeURIComponent(after)}`);
        assert.equal(state.complete, true, after);
        assert.equal(state.cursor, cursor);
      }
    });

    it("of a number that was given again after a restore are not followed", async () => {
      await instance.append(endOf("ses_1"));
      const { cursor } = await instance.read();
      // a backup of before is restored, and goes another way
      await db.raw("truncate gateway_changes restart identity");
      await instance.append(endOf("ses_other"));
      await instance.append(endOf("ses_another"));
      const state = await instance.read(`?after=${cursor}`);
      assert.equal(state.complete, true);
      assert.deepEqual(sessionsOf(state).sort(), ["ses_another", "ses_other"]);
    });

    it("that are too old lead to the complete state; the newest one goes on, however old", async () => {
      const start = (await instance.read()).cursor;
      await instance.append(endOf("ses_over", 1));
      const first = (await instance.read()).cursor;
      await instance.append(endOf("ses_long", 7 * 86_400_000));
      const second = (await instance.read()).cursor;
      await instance.append(endOf("ses_short", 1));
      await instance.append({ type: "policy_set_activated", name: "none" });
      const newest = (await instance.read()).cursor;
      await db("gateway_changes").update({ appended_at: db.raw("now() - interval '25 hours'") });
      await pruneGatewayChanges(db, new Date(Date.now() + 1000));
      for (const after of [start, first, second]) {
        const state = await instance.read(`?after=${after}`);
        assert.equal(state.complete, true, after);
        assert.deepEqual(sessionsOf(state), ["ses_long"]);
      }
      assert.equal((await instance.read(`?after=${newest}`)).complete, false);
      await instance.append(endOf("ses_new"));
      const next = await instance.read(`?after=${newest}`);
      assert.equal(next.complete, false);
      assert.deepEqual(sessionsOf(next), ["ses_new"]);
      // and when the long one is over, nothing keeps it
      await pruneGatewayChanges(db, new Date(Date.now() + 8 * 86_400_000));
      assert.deepEqual(await db("gateway_changes").where("session_id", "ses_long"), []);
    });
  });

  it("refuses parameters out of bounds, and whoever is no gateway", async () => {
    for (const query of [
      "?wait=31",
      "?wait=-1",
      "?wait=1.5",
      "?wait=x",
      "?wait=",
      "?limit=1",
      `?after=${"x".repeat(201)}`,
    ])
      assert.equal((await instance.state(query)).status, 400, query);
    for (const scope of ["read_only", "configuration", "authentication"] as const) {
      const answer = await instance.control.request("GET", "/gateway/state", { as: { ...FULL_KEY, scope } });
      assert.equal(answer.body.error.code, "INSUFFICIENT_SCOPE");
    }
    const gateway = { ...FULL_KEY, scope: "gateway" } as const;
    assert.equal((await instance.control.request("GET", "/gateway/state", { as: gateway })).status, 200);
    const limited = { ...gateway, customerId: newId("customer") };
    const refused = await instance.control.request("GET", "/gateway/state", { as: limited });
    assert.equal(refused.body.error.code, "CUSTOMER_KEY_NOT_ALLOWED");
    assert.equal((await instance.control.request("GET", "/gateway/state", { as: null })).status, 401);
  });
});
