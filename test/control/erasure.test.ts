import assert from "node:assert/strict";
import type { ControlContext } from "../../src/control/context.ts";
import { lockCustomer } from "../../src/control/customers/store.ts";
import { eraseDeliveries } from "../../src/control/erasure/deliveries.ts";
import { runErasures, startErasing } from "../../src/control/erasure/jobs.ts";
import { pruneDeleted } from "../../src/control/erasure/prune-deleted.ts";
import { adoptDeletions } from "../../src/control/erasure/store.ts";
import { lockDeliveryShared } from "../../src/control/webhooks/delivery-store.ts";
import { insertDeliveries } from "../../src/control/webhooks/enqueue.ts";
import { FULL_KEY, type RunningControl } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { makeOwner, makePerson, send, startGuardedControl } from "../support/guarded-control.ts";
import { rowsWith } from "./support/database-texts.ts";
import { decisionRecord, GATEWAY_KEY, takeRecords } from "./support/gateway-records.ts";
import { DAY, KnownPeople, NOW, SECRETS } from "./support/known-people.ts";
import { keyOf } from "./support/user-directory.ts";

describe("erasure", () => {
  let known: KnownPeople;
  let control: RunningControl;
  let customer: string;
  let other: string;

  beforeEach(async () => {
    known = await KnownPeople.start();
    ({ control, customer, other } = known);
  });
  afterEach(() => control.close());

  it("of a user leaves nothing of them anywhere, and everything that is counted and told by their id", async () => {
    const { user, webhook } = await known.makeUser(customer);
    const counted = async () =>
      Promise.all(["audit_records", "events", "rollup_users", "sessions"].map((table) => known.db(table)));
    const before = (await counted()).map(({ length }) => length);
    assert.ok((await rowsWith(known.db, SECRETS)).length > 8);
    await known.ask("DELETE", `/users/${user.id}`);
    assert.equal((await known.db("users").where({ id: user.id }).first()).email, null, "at once");
    assert.equal((await known.ask("GET", `/erasures/${user.id}`)).status, "running");
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);

    const [records = 0, events = 0, users, sessions] = before;
    // the deletion and its end, the end of the session, and `user.deleted`
    assert.deepEqual(
      (await counted()).map(({ length }) => length),
      [records + 2, events + 2, users, sessions],
    );
    const { status, progress, finished_at: finished } = await known.ask("GET", `/erasures/${user.id}`);
    assert.deepEqual([status, finished, progress.sessions], ["finished", new Date(NOW).toISOString(), 1]);
    const { data } = (await control.request("GET", `/audit/logs?kind=decision&user_id=${user.id}`)).body;
    assert.deepEqual(
      [data.length, data[0].client_ip, data[0].resource, data[0].rule, data[0].policy_set],
      [1, "", "/api/people/***/orders", "policies[0]", "default@v1"],
    );
    const told = await known.ask("GET", "/analytics/events?type=user.deleted");
    assert.deepEqual(told[0].data, { user: { id: user.id, customer_id: customer } });
    assert.equal((await known.ask("GET", "/analytics/users"))[0].user_id, user.id);

    // what waits is delivered without it
    const log = await known.ask("GET", `/webhooks/${webhook}/deliveries?type=user.authenticated`);
    const { payload, status: waiting } = await known.ask(
      "GET",
      `/webhooks/${webhook}/deliveries/${log[0].id}`,
    );
    assert.equal(waiting, "pending");
    assert.deepEqual(payload.data, {
      user: { id: user.id, customer_id: customer },
      session: { id: "ses_1", ip_address: "", user_agent: "" },
    });

    // whoever comes back is somebody else
    const again = await known.signIn(customer, { subject: "sub-0f3a", email: "a.lovelace@mail.example" });
    assert.notEqual(again.id, user.id);
    const texts = await rowsWith(known.db, [again.id]);
    assert.deepEqual(
      texts.filter((text) => text.includes(user.id)),
      [],
    );
  });

  it("touches nobody else, of the same customer or another", async () => {
    const { user } = await known.makeUser(customer);
    const { user: neighbour } = await known.makeUser(customer, "sub-neighbour");
    const { user: stranger } = await known.makeUser(other, "sub-0f3a");
    const of = (id: string) => rowsWith(known.db, [id]);
    const before = [await of(neighbour.id), await of(stranger.id)];
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    assert.deepEqual([await of(neighbour.id), await of(stranger.id)], before);
    const refusals = await known.db("events").where({ type: "user.authentication_failed" }).orderBy("id");
    assert.deepEqual(refusals.map(({ data }) => (data as { detail: string }).detail).sort(), [
      "sub ***",
      "sub sub-0f3a",
      "sub sub-neighbour",
    ]);
  });

  it("holds for records that come later", async () => {
    const { user } = await known.makeUser(customer);
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    known.time += 6 * DAY;
    await takeRecords(control, known.recordsOf(user, "x.lovelace@mail.example"));
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
    assert.equal((await known.db("audit_records").where({ user_id: user.id, kind: "decision" })).length, 2);
    await known.ask("DELETE", `/customers/${other}`);
    const unknown = { ...user, id: "usr_of_nobody", customer_id: other };
    await takeRecords(control, known.recordsOf(unknown, "y.lovelace@mail.example"));
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
  });

  it("takes the address of a sign-out out of the audit trail, of a user and of a customer's users", async () => {
    const { user } = await known.makeUser(customer);
    const { user: theirs } = await known.makeUser(other, "sub-else");
    for (const person of [user, theirs]) await known.signOut(person);
    const ends = () => known.db("audit_records").where({ action: "session.ended" }).orderBy("id");
    assert.equal((await ends()).filter(({ client_ip }) => client_ip !== "").length, 2);
    // others may end a session, too, and that is to be seen
    const acts = await known.db("audit_records").where({ action: "customer.created" });
    await known.ask("DELETE", `/users/${user.id}`);
    await known.ask("DELETE", `/customers/${other}`);
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
    assert.deepEqual(
      (await ends()).map(({ client_ip, user_id, resource, record }) => [
        ...[client_ip, user_id, resource, record.actor, record.after],
      ]),
      [user, theirs].map(({ id }) => [
        ...["", "", `session/ses_${id}`, { kind: "anonymous", id: "" }, { ended: 1, reason: "logout" }],
      ]),
    );
    assert.deepEqual(await known.db("audit_records").where({ action: "customer.created" }), acts);
  });

  it("leaves of outcomes what no peer can word, those that come alone and later as well", async () => {
    const { user } = await known.makeUser(customer);
    const [decided] = await known.db("audit_records").where({ user_id: user.id, kind: "decision" });
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    const late = decided.id.replace("dec_", "dec_z");
    await known.db("audit_records").insert({ ...decided, id: late });
    await takeRecords(control, [known.outcomeOf({ decision_id: late })]);
    const outcomes = await known.db("audit_records").where({ user_id: user.id, kind: "connection" });
    assert.equal(outcomes.length, 2);
    for (const { record } of outcomes) {
      assert.deepEqual([record.close_code, record.closed_by, record.masked_count], [1000, "client", 1]);
      assert.ok(!JSON.stringify(record).includes("Lovelace"), JSON.stringify(record));
    }
  });

  it("finds nothing in events under a customer that the user is not of", async () => {
    const { user } = await known.makeUser(customer);
    const said = { timestamp: new Date(NOW).toISOString(), decision: "DENY", reason: "MFA_REQUIRED" };
    const whose = { user_id: user.id, customer_id: other, client_ip: "203.0.113.77" };
    await takeRecords(control, [decisionRecord({ ...said, ...whose, resource: "/people/Lovelace" })]);
    const told = await known.db("events").where({ type: "policy.violated", customer_id: other });
    assert.deepEqual(
      told.map(({ data, user_id }) => [user_id, data.detail, data.session, data.user]),
      [[null, "denied at the gateway", undefined, undefined]],
    );
  });

  it("waits for transactions that began before the deletion", async () => {
    const { user } = await known.makeUser(customer);
    const late = await known.db.transaction();
    await late.raw("select pg_current_xact_id()");
    await known.ask("DELETE", `/users/${user.id}`);
    await runErasures(control.context);
    assert.equal((await known.ask("GET", `/erasures/${user.id}`)).status, "running");
    await late("events").insert({
      ...{
        timestamp: new Date(known.time),
        id: "evt_late",
        type: "user.authenticated",
        customer_id: customer,
      },
      ...{ user_id: user.id, data: { user: { id: user.id, email: "late@lovelace.example" } } },
    });
    await late.commit();
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
  });

  describe("of what is being written meanwhile", () => {
    /** Waits until somebody waits for a lock. */
    const isWaiting = () =>
      eventually("a wait for a lock", async () => {
        const waiting = known.db("pg_stat_activity").where("wait_event_type", "Lock");
        return (await waiting.whereRaw("datname = current_database()")).length > 0;
      });

    it("finds what is sent again, before and after it", async () => {
      const { user, webhook } = await known.makeUser(customer);
      const { db } = known;
      await db("webhook_deliveries").update({ status: "delivered", next_attempt_at: null });
      const [sent] = await known.ask("GET", `/webhooks/${webhook}/deliveries?type=user.authenticated`);
      // one that is being sent again when the erasure comes
      const sending = await db.transaction();
      const { event_id, event_type, payload } = await lockDeliveryShared(sending, webhook, sent.id as string);
      const about = { webhook_id: webhook, event_id, event_type, payload };
      const copy = { ...about, id: "dlv_copy", created_at: new Date(known.time), retried: true };
      await insertDeliveries(sending, [{ ...copy, priority: 0 }]);
      const erasing = await db.transaction();
      const erased = eraseDeliveries(erasing, [event_id]);
      await isWaiting();
      await sending.commit();
      await erased;
      // and one that is to be sent again while it is erased
      const again = control.request("POST", `/webhooks/${webhook}/deliveries/${sent.id}/redeliver`);
      await isWaiting();
      await erasing.commit();
      assert.equal((await again).status, 202);
      const payloads = await db("webhook_deliveries").where({ event_id }).pluck<string[]>("payload");
      assert.equal(payloads.length, 3);
      for (const text of payloads) assert.ok(text.includes(user.id) && !/Lovelace|SecretBrowser/i.test(text));
    });

    it("has no user after it who was added while the customer was deleted", async () => {
      const deleting = await known.db.transaction();
      await lockCustomer(deleting, FULL_KEY, other);
      const body = { subject: "late", email: "late@lovelace.example" };
      const added = control.request("POST", `/customers/${other}/users`, { body });
      await isWaiting();
      await deleting("customers")
        .where({ id: other })
        .update({ deleted_at: new Date(known.time) });
      await deleting.commit();
      const { status, body: answer } = await added;
      assert.deepEqual([status, answer.error.code], [404, "INVALID_CUSTOMER"]);
      assert.deepEqual(await rowsWith(known.db, ["late@lovelace.example"]), []);
    });
  });

  it("of a customer erases its users in any number of interrupted and simultaneous runs", async () => {
    await known.makeUser(customer);
    await known.makeUser(customer, "sub-0f3a-2");
    const { user: stranger } = await known.makeUser(other, "sub-else");
    await known.ask("DELETE", `/customers/${customer}`);
    // the directory tells nothing of them at once
    const active = (await known.ask("GET", "/analytics/users")) as {
      customer_id: string;
      email: string | null;
    }[];
    for (const { customer_id: id, email } of active) assert.equal(email === null, id === customer, id);
    let killed = 0;
    await eventually("three runs that were killed after their first batch", async () => {
      let begun = 0;
      const units: ControlContext["units"] = async (origin, work) => {
        if ((begun += 1) > 1) throw new Error("killed");
        return control.context.units(origin, work);
      };
      await runErasures({ ...control.context, units }).catch(() => (killed += 1));
      return killed === 3;
    });
    assert.equal((await known.ask("GET", `/erasures/${customer}`)).status, "running");
    await Promise.all([known.erase(), known.erase(), known.erase()]);
    const { status, progress } = await known.ask("GET", `/erasures/${customer}`);
    assert.deepEqual([status, progress.users, progress.sessions], ["finished", 2, 2]);
    const left = await rowsWith(known.db, SECRETS);
    assert.ok(left.length > 0);
    const theirs = [stranger.id, other, "sub-else"];
    assert.deepEqual(
      left.filter((text) => !theirs.some((id) => text.includes(id))),
      [],
    );
    assert.equal((await known.ask("GET", `/users/${stranger.id}`)).name, "Ada Lovelace");
  });

  it("is asked for what an instance of an earlier release has deleted", async () => {
    const { user } = await known.makeUser(customer);
    await known
      .db("users")
      .where({ id: user.id })
      .update({ deleted_at: new Date(known.time) });
    await known
      .db("customers")
      .where({ id: other })
      .update({ deleted_at: new Date(known.time) });
    await adoptDeletions(known.db);
    await adoptDeletions(known.db);
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
    const list = await control.request("GET", "/erasures?status=finished");
    assert.deepEqual(
      new Set((list.body.data as { id: string; kind: string }[]).map(({ id, kind }) => `${kind} ${id}`)),
      new Set([`user ${user.id}`, `customer ${other}`]),
    );
  });

  it("removes rows for good after their time, and keeps the ids of customers", async () => {
    const { user } = await known.makeUser(customer);
    const { user: theirs } = await known.makeUser(other, "sub-else");
    await known.ask("DELETE", `/users/${user.id}`);
    await known.ask("DELETE", `/customers/${other}`);
    known.time += 31 * DAY;
    // not before they are erased
    await pruneDeleted(control.context);
    assert.equal((await known.db("users").whereIn("id", [user.id, theirs.id])).length, 2);
    await known.erase();
    known.time -= 2 * DAY;
    await pruneDeleted(control.context);
    assert.equal((await known.db("users").whereIn("id", [user.id, theirs.id])).length, 2);
    known.time += 2 * DAY;
    await Promise.all([pruneDeleted(control.context), pruneDeleted(control.context)]);
    for (const table of ["users", "sessions", "erasures"]) assert.deepEqual(await known.db(table), [], table);
    assert.deepEqual(await known.db("customers").pluck("id"), [customer]);
    assert.deepEqual(await known.db("deleted_customers").pluck("id"), [other]);
    assert.equal((await control.request("GET", `/erasures/${user.id}`)).status, 404);
    const state = (await control.request("GET", "/gateway/state", { as: GATEWAY_KEY })).body.data;
    assert.deepEqual([state.customers, state.customers_deleted], [[], [other]]);
  });

  it("goes on where rows of others cannot be removed for good", async () => {
    const { user } = await known.makeUser(other, "sub-earlier");
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    known.time += 31 * DAY;
    await known.db.raw(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'stays'; end $$`,
    );
    await known.db.raw("create trigger stays before delete on users for each row execute function refuse()");
    const { user: next } = await known.makeUser(customer);
    await known.ask("DELETE", `/users/${next.id}`);
    await assert.rejects(pruneDeleted(control.context), /stays/);
    const erasing = startErasing(control.context);
    try {
      await eventually(
        "the erasure",
        async () => (await known.ask("GET", `/erasures/${next.id}`)).status === "finished",
      );
    } finally {
      await erasing.close();
    }
  });

  it("is shown to a customer's own key as far as it is that customer's", async () => {
    const { user } = await known.makeUser(customer);
    await known.ask("DELETE", `/users/${user.id}`);
    await known.ask("DELETE", `/customers/${other}`);
    const { body } = await control.request("GET", "/erasures", { as: keyOf(customer) });
    assert.deepEqual([body.data.length, body.data[0].id], [1, user.id]);
    assert.equal((await control.request("GET", `/erasures/${other}`, { as: keyOf(customer) })).status, 404);
    const asked = await control.request("GET", `/erasures?customer_id=${other}`, { as: keyOf(customer) });
    assert.equal(asked.body.error.code, "INVALID_CUSTOMER");
    for (const id of ["x", "usr_", "%00", "'"])
      assert.equal((await control.request("GET", `/erasures/${encodeURIComponent(id)}`)).status, 404);
  });

  describe("of a dashboard user", () => {
    it("takes name and e-mail address out of what they did and what was done to them", async () => {
      const guarded = await startGuardedControl({ database: control.database, clock: () => known.time });
      try {
        const owner = await makeOwner(guarded);
        const admin = await makePerson(guarded, owner, "admin");
        await known.db("dashboard_users").where({ id: admin.id }).update({ name: "Ada Lovelace" });
        const made = await send(guarded, "POST", "/api-keys", admin.headers, {
          name: "k",
          scope: "read_only",
        });
        assert.equal(made.status, 201, made.text);
        const secrets = ["Lovelace", admin.email];
        assert.ok((await rowsWith(known.db, secrets)).length >= 4);
        const deleted = await send(guarded, "DELETE", `/dashboard/users/${admin.id}`, owner.headers);
        assert.equal(deleted.status, 200);
        await known.erase();
        assert.deepEqual(await rowsWith(known.db, secrets), []);
        const query = `kind=change&action=api_key.created&user_id=${admin.id}`;
        const changes = await known.ask("GET", `/audit/logs?${query}`);
        assert.deepEqual(changes[0].actor, { kind: "dashboard_user", id: admin.id });
        // of others nothing changes
        assert.ok((await rowsWith(known.db, ["Olga"])).length > 0);
        const gone = await known.ask("GET", `/erasures/${admin.id}`);
        assert.deepEqual([gone.kind, gone.customer_id, gone.status], ["dashboard_user", null, "finished"]);
      } finally {
        await guarded.close();
      }
    });
  });
});
