import assert from "node:assert/strict";
import type { ControlContext } from "../../../../src/control/platform/context.ts";
import { runErasures } from "../../../../src/control/resources/erasure/jobs.ts";
import { createKeyring } from "../../../../src/control/sign-in/issuer/keyring.ts";
import { startMaintenance } from "../../../../src/control/maintenance.ts";
import { pruneDeleted } from "../../../../src/control/resources/erasure/prune-deleted.ts";
import { adoptDeletions } from "../../../../src/control/resources/erasure/store.ts";
import type { RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import { OPERATOR } from "../../../support/guarded-control.ts";
import { rowsWith } from "../../support/database-texts.ts";
import { decisionRecord, GATEWAY_KEY, takeRecords } from "../../support/gateway-records.ts";
import { DAY, KnownPeople, NOW, SECRETS } from "../../support/known-people.ts";
import { keyOf } from "../../support/user-directory.ts";
import { change } from "../../support/webhooks.ts";

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

  it("takes addresses out of what the customer's provider has said of refusals", async () => {
    const { user } = await known.makeUser(customer);
    const says = "access_denied: the user x.lovelace@mail.example is not assigned";
    await control.context.units(OPERATOR, (unit) => {
      const data = { reason: "PROVIDER_REFUSED", detail: says };
      for (const customerId of [customer, other])
        unit.emit({ type: "user.authentication_failed", customerId, data });
      return Promise.resolve();
    });
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    const kept = await known
      .db("events")
      .whereRaw("data ->> 'reason' = 'PROVIDER_REFUSED'")
      .orderByRaw("customer_id = ?", [other])
      .pluck("data");
    assert.deepEqual(
      kept.map(({ detail }: { detail: string }) => detail),
      ["access_denied: the user *** is not assigned", says],
    );
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

  it("hides e-mail addresses however their `@` is encoded, to the database as to what comes later", async () => {
    const { user } = await known.makeUser(customer);
    const texts = [
      ["/p/ada.lovelace%40mail.example/orders", "/p/***/orders"],
      ["/p/ada.lovelace%2540mail.example", "/p/***"],
      ["/p/ada.lovelace%25%34%30mail.example", "/p/***"],
      ["/p/ada.lovelace\uff20mail.example", "/p/***"],
      ["/p/ada.lovelace%EF%BC%A0mail.example/x", "/p/***/x"],
      ["/p/ada.lovelace&#64;mail.example", "/p/***"],
      ["/p/ada.lovelace%u0040mail.example", "/p/***"],
      ["/p/ada.lovelace\\u0040mail.example", "/p/***"],
      ["/p/ada.lovelace%252540mail.example@x/y", "/p/***/y"],
      ["/p/id=Lovelace@mail.example;v=1/@a/b@/%40c/d%40/%4a0/40", "/p/***/@a/b@/%40c/d%40/%4a0/40"],
    ] as const;
    const said = { customer_id: customer, user_id: user.id, decision: "DENY", reason: "MFA_REQUIRED" };
    const timestamp = new Date(NOW).toISOString();
    const records = () =>
      texts.map(([resource]) => decisionRecord({ ...said, timestamp, resource, detail: resource }));
    const details = texts.map(([resource]) => ({ reason: "MFA_REQUIRED", detail: `no ${resource} here` }));
    await takeRecords(control, records());
    await change(control, (unit) => {
      for (const data of details)
        unit.emit({
          type: "policy.violated",
          customerId: customer,
          userId: user.id,
          rule: data.detail,
          data,
        });
      return Promise.resolve();
    });
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    await takeRecords(control, records());
    assert.deepEqual(await rowsWith(known.db, ["lovelace"]), []);
    const resources = known.db("audit_records").where({ user_id: user.id, reason: "MFA_REQUIRED" });
    const hidden = texts.map(([, text]) => text);
    assert.deepEqual((await resources.pluck<string[]>("resource")).sort(), [...hidden, ...hidden].sort());
    const inDetail = hidden.map((text) => `no ${text} here`).sort();
    const told = await known.db("events").whereRaw("data ->> 'detail' like 'no %'");
    assert.deepEqual(told.map(({ data }) => data.detail).sort(), inDetail);
    const sent = await known.db("webhook_deliveries").where("payload", "like", '%"no %').pluck("payload");
    assert.deepEqual(sent.map((payload) => JSON.parse(payload).data.detail).sort(), inDetail);
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

  it("keeps a customer until the erasures of its users are finished, too", async () => {
    const { user } = await known.makeUser(customer);
    await known.ask("DELETE", `/users/${user.id}`);
    // it failed, and waits for its time
    await known
      .db("erasures")
      .update({ failures: 9, failure: "x", next_attempt_at: new Date(NOW + 50 * DAY) });
    await known.ask("DELETE", `/customers/${customer}`);
    await eventually("the erasure of the customer", async () => {
      await runErasures(control.context);
      return (await known.ask("GET", `/erasures/${customer}`)).status === "finished";
    });
    const rows = async () => {
      await pruneDeleted(control.context);
      return Promise.all(
        ["customers", "users", "erasures"].map(async (table) => (await known.db(table)).length),
      );
    };
    known.time += 31 * DAY;
    assert.deepEqual(await rows(), [2, 1, 2]);
    known.time += 20 * DAY;
    await known.erase();
    assert.deepEqual(await rows(), [1, 0, 0]);
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
    const erasing = startMaintenance(control.context, createKeyring(control.context));
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
});
