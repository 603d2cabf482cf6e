import assert from "node:assert/strict";
import type { Knex } from "knex";
import { newId } from "../../../../src/control/platform/ids.ts";
import {
  enqueueDeliveries,
  insertDeliveries,
  type Priority,
} from "../../../../src/control/resources/webhooks/enqueue.ts";
import {
  claimDue,
  explainClaim,
  endDelivery,
  postpone,
  release,
  type AttemptRecord,
  type Claimed,
} from "../../../../src/control/resources/webhooks/outbox.ts";
import { recordHealth } from "../../../../src/control/resources/webhooks/receiver-health.ts";
import { sweep } from "../../../../src/control/resources/webhooks/sweep.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";
import { signIn } from "../../support/webhooks.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(T0 + seconds * 1_000);
const SILENCE: AttemptRecord = { response_status: null, response_body: null, duration_ms: 1, error: "x" };
const RECORD: AttemptRecord = { response_status: 500, response_body: "", duration_ms: 1, error: "x" };

describe("webhooks: the outbox", () => {
  let database: TestDatabase;
  let db: Knex;

  beforeEach(async () => {
    database = await testDatabase();
    db = database.db;
  });
  afterEach(() => database.close());

  const webhook = async (columns: object = {}): Promise<string> => {
    const id = newId("webhook");
    const row = { id, url: "http://127.0.0.1:9/", events: ["*"], enabled: true, secret: "s" };
    await db("webhooks").insert({ ...row, created_at: at(0), updated_at: at(0), ...columns });
    return id;
  };
  const enqueue = (webhookId: string, count: number, from = 0, priority: Priority = 1) =>
    insertDeliveries(
      db,
      Array.from({ length: count }, (_, index) => ({
        id: newId("delivery"),
        webhook_id: webhookId,
        event_id: `evt_${from + index}`,
        event_type: "user.authenticated",
        payload: "{}",
        created_at: at(from + index),
        retried: true,
        priority,
      })),
    );
  const claim = (seconds: number, most = 100) =>
    claimDue(db, { now: at(seconds), until: at(seconds + 60), most });
  const eventsOf = (claims: readonly Claimed[]) => claims.map(({ delivery }) => delivery.event_id);

  it("gives out what is due, oldest first, four of a webhook at a time", async () => {
    const id = await webhook();
    await enqueue(id, 6);
    assert.deepEqual(eventsOf(await claim(1)), ["evt_0", "evt_1"]);
    assert.deepEqual(eventsOf(await claim(10)), ["evt_2", "evt_3"]);
    assert.deepEqual(eventsOf(await claim(10)), []);
  });

  it("ends a claim by its outcome, and gives the next", async () => {
    await enqueue(await webhook(), 6);
    const [first, second, third] = await claim(10);
    assert.ok(first && second && third);
    assert.equal(await endDelivery(db, first, "delivered", RECORD, at(11)), true);
    await postpone(db, second, RECORD, at(100));
    await release(db, third, at(11));
    assert.deepEqual(eventsOf(await claim(11)), ["evt_2", "evt_4", "evt_5"]);
    const rows: unknown = await db("webhook_deliveries")
      .whereIn("event_id", ["evt_0", "evt_1"])
      .orderBy("sequence")
      .select("status", "next_attempt_at", "finished_at", "response_status");
    assert.deepEqual(rows, [
      { status: "delivered", next_attempt_at: null, finished_at: at(11), response_status: 500 },
      { status: "pending", next_attempt_at: at(100), finished_at: null, response_status: 500 },
    ]);
  });

  it("gives a claim that has run out to another, and lets the first change nothing then", async () => {
    await enqueue(await webhook(), 1);
    const [dead] = await claim(0);
    assert.deepEqual(await claim(59), []);
    const [alive] = await claim(60);
    assert.ok(dead && alive);
    assert.deepEqual([dead.delivery.attempts, alive.delivery.attempts], [1, 2]);
    assert.equal(await endDelivery(db, dead, "failed", RECORD, at(61)), false);
    await postpone(db, dead, RECORD, at(61));
    await release(db, dead, at(61));
    assert.deepEqual(await db("webhook_deliveries").pluck("status"), ["delivering"]);
    assert.equal(await endDelivery(db, alive, "delivered", RECORD, at(62)), true);
  });

  it("takes from each webhook before it takes more from one", async () => {
    const ids = [await webhook(), await webhook(), await webhook()];
    for (const id of ids) await enqueue(id, 50);
    const first = await claim(100, 3);
    assert.deepEqual(new Set(first.map(({ webhook: { id } }) => id)), new Set(ids));
    const second = await claim(100, 100);
    assert.equal(second.length, 9);
    // one that has some under way comes last
    for (const held of [...first, ...second])
      if (held.webhook.id === ids[0]) await endDelivery(db, held, "delivered", RECORD, at(101));
    assert.deepEqual(
      (await claim(101, 4)).map(({ webhook: { id } }) => id),
      [ids[0], ids[0], ids[0], ids[0]],
    );
  });

  it("gives nothing of a webhook that is disabled or gone, or from before it was enabled", async () => {
    const off = await webhook({ enabled: false, disabled_reason: "requested", disabled_at: at(0) });
    await enqueue(off, 1);
    await enqueue(newId("webhook"), 1);
    assert.deepEqual(await claim(100), []);
    const [{ sequence }] = (await db("webhook_deliveries").where({ webhook_id: off }).select("sequence")) as [
      { sequence: number },
    ];
    await db("webhooks")
      .where({ id: off })
      .update({ enabled: true, disabled_reason: null, disabled_at: null, deliver_after: sequence });
    await enqueue(off, 1, 7);
    assert.deepEqual(eventsOf(await claim(100)), ["evt_7"]);
  });

  it("gives each delivery to one of many who ask at once", async () => {
    for (let index = 0; index < 10; index += 1) await enqueue(await webhook(), 8);
    const given: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const claims = (await Promise.all(Array.from({ length: 8 }, () => claim(100, 7)))).flat();
      given.push(...claims.map(({ delivery }) => delivery.id));
      for (const one of claims) await endDelivery(db, one, "delivered", RECORD, at(101));
    }
    assert.equal(new Set(given).size, given.length);
    while (given.length < 80) {
      const claims = await claim(100);
      assert.ok(claims.length > 0);
      for (const one of claims) await endDelivery(db, one, "delivered", RECORD, at(101));
      given.push(...claims.map(({ delivery }) => delivery.id));
    }
    assert.equal(new Set(given).size, 80);
  });

  it("gives what comes first by priority, then by time", async () => {
    const id = await webhook();
    await enqueue(id, 2, 0, 2);
    await enqueue(id, 3, 2, 1);
    await enqueue(id, 1, 5, 0);
    const first = await claim(10);
    assert.deepEqual(eventsOf(first), ["evt_5", "evt_2", "evt_3", "evt_4"]);
    for (const one of first) await endDelivery(db, one, "delivered", RECORD, at(10));
    assert.deepEqual(eventsOf(await claim(10)), ["evt_0", "evt_1"]);
  });

  it("leaves places to others when many hang at once", async () => {
    for (let index = 0; index < 4; index += 1) await enqueue(await webhook(), 8);
    const claimed = await claimDue(db, { now: at(100), until: at(160), most: 100, shared: 8 });
    assert.equal(claimed.length, 8);
    await enqueue(await webhook(), 8);
    // each has one, however many they are
    const more = await claimDue(db, { now: at(100), until: at(160), most: 100, shared: 1 });
    assert.equal(more.length, 1);
  });

  it("pauses a receiver as a whole, lets one try, and then all others", async () => {
    const [dead, alive] = [await webhook(), await webhook()];
    await enqueue(dead, 20);
    const middle = () => 0.5;
    const fail = async (claims: readonly Claimed[], seconds: number, record = SILENCE) => {
      for (const one of claims) {
        await recordHealth(db, one, record, at(seconds), middle);
        await postpone(db, one, record, at(10_000));
      }
    };
    const [first, second, third, fourth] = await claim(100);
    assert.ok(first && second && third && fourth);
    await fail([first], 100);
    // an answer, though no success, begins the count again
    await fail([second], 100, RECORD);
    await fail([third, fourth, ...(await claim(100)).slice(0, 1)], 100);
    assert.deepEqual(await claim(104), []);
    await enqueue(alive, 1, 7);
    const [lively] = await claim(104);
    assert.ok(lively);
    assert.equal(lively.delivery.event_id, "evt_7");
    await endDelivery(db, lively, "delivered", RECORD, at(104));
    // of those under way when the pause began one is left
    const [last] = await db("webhook_deliveries")
      .where({ webhook_id: dead, status: "delivering" })
      .select<{ id: string }[]>("id");
    assert.ok(last);
    await db("webhook_deliveries")
      .where({ id: last.id })
      .update({ status: "pending", next_attempt_at: at(0) });

    const pauses: number[] = [];
    for (let seconds = 105; pauses.length < 8;) {
      const tries = await claim(seconds);
      assert.equal(tries.length, 1);
      assert.equal((await claim(seconds)).length, 0);
      await fail(tries, seconds);
      const row = await db("webhooks").where({ id: dead }).first<{ paused_until: Date }>();
      const until = (row.paused_until.getTime() - T0) / 1000;
      pauses.push(until - seconds);
      assert.deepEqual(await claim(until - 1), []);
      seconds = until;
      if (pauses.length < 8) continue;
      const [trying] = await claim(seconds);
      assert.ok(trying);
      await recordHealth(db, trying, { ...RECORD, response_status: 200 }, at(seconds));
      await endDelivery(db, trying, "delivered", RECORD, at(seconds));
      assert.equal((await claim(seconds)).length, 4);
    }
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it("does not pause a receiver that answers some of what was claimed together", async () => {
    const id = await webhook();
    await enqueue(id, 4);
    const [first, second, third, fourth] = await claim(100);
    assert.ok(first && second && third && fourth);
    const answered = { ...RECORD, response_status: 200 };
    // all of them were claimed before anything had failed
    for (const one of [first, second]) await recordHealth(db, one, SILENCE, at(100));
    await recordHealth(db, third, answered, at(100));
    await recordHealth(db, fourth, SILENCE, at(100));
    const health = () => db("webhooks").where({ id }).first<object>("failures", "paused_until");
    assert.deepEqual(await health(), { failures: 1, paused_until: null });
    // one that was under way when the pause began ends it by its answer
    for (const one of [first, second]) await recordHealth(db, one, SILENCE, at(101));
    await recordHealth(db, third, answered, at(101));
    assert.deepEqual(await health(), { failures: 0, paused_until: null });
  });

  it("finds a webhook behind the backlog of another without reading it", async () => {
    const [busy, other] = [await webhook(), await webhook()];
    await db.raw(
      `insert into webhook_deliveries
         (id, webhook_id, event_id, event_type, payload, retried, status, next_attempt_at, created_at, priority)
       select 'dlv_' || n, ?, 'evt_' || n, 'user.authenticated', '{}', true, 'pending',
              case when n % 10 = 0 then ?::timestamptz else ? end, ?, case when n % 10 = 0 then 1 else 2 end
       from generate_series(1, 50000) n`,
      // a part was tried, and is not due
      [busy, at(1_000), at(0), at(0)],
    );
    await enqueue(other, 1);
    await db.raw("analyze webhook_deliveries");
    const plan = JSON.stringify(await explainClaim(db, { now: at(10), until: at(70), most: 100 }));
    assert.ok(plan.includes('"Index Name":"webhook_deliveries_queue"'), plan);
    assert.equal(/"Seq Scan"[^{}]*"Relation Name":"webhook_deliveries"/.test(plan), false, plan);
    const { rows } = await db.raw<{ rows: { reads: number }[] }>(
      "select pg_stat_get_xact_tuples_fetched('webhook_deliveries'::regclass)::int as reads",
    );
    assert.equal(rows[0]?.reads, 0);
    const reads = await db.transaction(async (trx) => {
      const claimed = await claimDue(trx, { now: at(10), until: at(70), most: 100 });
      assert.equal(claimed.length, 5);
      const counted = await trx.raw<{ rows: { reads: number }[] }>(
        `select (pg_stat_get_xact_tuples_fetched('webhook_deliveries'::regclass)
                 + pg_stat_get_xact_tuples_returned('webhook_deliveries'::regclass))::int as reads`,
      );
      return counted.rows[0]?.reads ?? Infinity;
    });
    assert.ok(reads < 500, String(reads));
  });

  it("writes thousands of events in one transaction, for each webhook", async () => {
    await webhook();
    await webhook();
    const events = Array.from({ length: 2_500 }, (_, index) => ({
      ...signIn(),
      id: `evt_${index}`,
      timestamp: at(index),
    }));
    await db.transaction((trx) => enqueueDeliveries(trx, events));
    assert.equal((await db("webhook_deliveries").select("id")).length, 5_000);
  });

  it("forgets a secret that another replaced once it no longer signs", async () => {
    const id = await webhook({ previous_secret: "s", previous_secret_expires_at: at(60) });
    const kept = () => db("webhooks").where({ id }).pluck("previous_secret");
    await sweep({ db, clock: () => T0 + 59_000 });
    assert.deepEqual(await kept(), ["s"]);
    await sweep({ db, clock: () => T0 + 60_000 });
    assert.deepEqual(await kept(), [null]);
  });

  it("forgets what is older than 30 days, and cancels what waits for nobody", async () => {
    const id = await webhook();
    const gone = newId("webhook");
    await enqueue(id, 3);
    await enqueue(gone, 1);
    const [old, waiting] = await claim(10);
    assert.ok(old && waiting);
    await endDelivery(db, old, "delivered", RECORD, at(10));
    await postpone(db, waiting, RECORD, at(1_000));
    const day = 86_400;
    await sweep({ db, clock: () => T0 + 29 * day * 1_000 });
    const statuses = async () =>
      (await db("webhook_deliveries").orderBy("sequence").pluck("status")) as string[];
    assert.deepEqual(await statuses(), ["delivered", "pending", "delivering", "cancelled"]);
    assert.deepEqual(
      await db("webhook_deliveries").where({ status: "cancelled" }).pluck("cancelled_reason"),
      ["webhook_deleted"],
    );
    await sweep({ db, clock: () => T0 + 31 * day * 1_000 });
    assert.deepEqual(await statuses(), ["pending", "delivering"]);
  });
});
