import assert from "node:assert/strict";
import type { Knex } from "knex";
import { newId } from "../../src/control/ids.ts";
import { enqueueDeliveries, insertDeliveries } from "../../src/control/webhooks/enqueue.ts";
import {
  claimDue,
  finish,
  postpone,
  release,
  type AttemptRecord,
  type Claimed,
} from "../../src/control/webhooks/outbox.ts";
import { sweep } from "../../src/control/webhooks/sweep.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { signIn } from "./support/webhooks.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(T0 + seconds * 1_000);
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
  const enqueue = (webhookId: string, count: number, from = 0) =>
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
    assert.equal(await finish(db, first, "delivered", RECORD, at(11)), true);
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
    assert.equal(await finish(db, dead, "failed", RECORD, at(61)), false);
    await postpone(db, dead, RECORD, at(61));
    await release(db, dead, at(61));
    assert.deepEqual(await db("webhook_deliveries").pluck("status"), ["delivering"]);
    assert.equal(await finish(db, alive, "delivered", RECORD, at(62)), true);
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
      if (held.webhook.id === ids[0]) await finish(db, held, "delivered", RECORD, at(101));
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
      for (const one of claims) await finish(db, one, "delivered", RECORD, at(101));
    }
    assert.equal(new Set(given).size, given.length);
    while (given.length < 80) {
      const claims = await claim(100);
      assert.ok(claims.length > 0);
      for (const one of claims) await finish(db, one, "delivered", RECORD, at(101));
      given.push(...claims.map(({ delivery }) => delivery.id));
    }
    assert.equal(new Set(given).size, 80);
  });

  it("finds a webhook behind the backlog of another without reading it", async () => {
    const [busy, other] = [await webhook(), await webhook()];
    await db.raw(
      `insert into webhook_deliveries
         (id, webhook_id, event_id, event_type, payload, retried, status, next_attempt_at, created_at)
       select 'dlv_' || n, ?, 'evt_' || n, 'user.authenticated', '{}', true, 'pending', ?, ?
       from generate_series(1, 50000) n`,
      [busy, at(0), at(0)],
    );
    await enqueue(other, 1);
    await db.raw("analyze webhook_deliveries");
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

  describe("of events that a user can repeat", () => {
    let count = 0;
    const violation = (seconds: number, userId = "usr_1", rule = "r", reason = "CONDITION_FALSE") => ({
      ...({
        id: `evt_${++count}`,
        timestamp: at(seconds),
        type: "policy.violated",
        customerId: "cus_1",
      } as const),
      ...{ userId, rule, data: { user: { id: userId, customer_id: "cus_1" }, reason } },
    });
    const sent = async () => {
      const rows = await db("webhook_deliveries").orderBy("sequence").select("payload", "webhook_id");
      return (rows as { payload: string; webhook_id: string }[]).map(({ payload }) => {
        const { data } = JSON.parse(payload) as { data: { user: { id: string }; suppressed?: number } };
        return [data.user.id, data.suppressed];
      });
    };

    it("takes one a minute, and says how many were left out", async () => {
      await webhook();
      await enqueueDeliveries(db, [violation(0), violation(0)]);
      for (const seconds of [1, 30, 59]) await enqueueDeliveries(db, [violation(seconds)]);
      assert.deepEqual(await sent(), [["usr_1", undefined]]);
      await enqueueDeliveries(db, [violation(60), violation(60)]);
      await enqueueDeliveries(db, [violation(61)]);
      await enqueueDeliveries(db, [violation(121)]);
      await enqueueDeliveries(db, [violation(200)]);
      assert.deepEqual(await sent(), [
        ["usr_1", undefined],
        ["usr_1", 4],
        ["usr_1", 2],
        ["usr_1", undefined],
      ]);
    });

    it("tells them apart by webhook, user, reason and rule, and leaves others alone", async () => {
      const own = await webhook({ customer_id: null });
      await enqueueDeliveries(db, [violation(0), violation(0, "usr_2"), violation(0, "usr_1", "s")]);
      await enqueueDeliveries(db, [violation(1), violation(1, "usr_1", "r", "MFA_REQUIRED")]);
      assert.equal((await sent()).length, 4);
      const other = await webhook();
      await enqueueDeliveries(db, [violation(2), violation(2)]);
      const rows = await db("webhook_deliveries").select("webhook_id");
      assert.deepEqual(
        [own, other].map((id) => rows.filter((row: { webhook_id: string }) => row.webhook_id === id).length),
        [4, 1],
      );
      const signIns = [1, 2, 3].map((number) => ({
        ...{ ...signIn(), id: `evt_in_${number}`, timestamp: at(3) },
      }));
      await enqueueDeliveries(db, signIns);
      assert.equal((await sent()).length, 5 + 2 * signIns.length);
    });

    it("counts each of many transactions at once", async () => {
      await webhook();
      const users = ["usr_1", "usr_2", "usr_3"];
      await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          db.transaction((trx) =>
            enqueueDeliveries(
              trx,
              [...users, ...users].slice(index % 3, (index % 3) + 3).map((user) => violation(0, user)),
            ),
          ),
        ),
      );
      assert.equal((await sent()).length, users.length);
      await enqueueDeliveries(
        db,
        users.map((user) => violation(60, user)),
      );
      assert.deepEqual(
        (await sent()).slice(users.length),
        users.map((user) => [user, 11]),
      );
    });

    it("are forgotten after a day", async () => {
      await webhook();
      await enqueueDeliveries(db, [violation(0), violation(0)]);
      await sweep({ db, clock: () => T0 + 86_400_000 });
      await enqueueDeliveries(db, [violation(86_400)]);
      await sweep({ db, clock: () => T0 + 86_400_001 });
      const kept = await db("webhook_repetitions").select("carried");
      assert.deepEqual(kept, [{ carried: 1 }]);
    });
  });

  it("forgets what is older than 30 days, and cancels what waits for nobody", async () => {
    const id = await webhook();
    const gone = newId("webhook");
    await enqueue(id, 3);
    await enqueue(gone, 1);
    const [old, waiting] = await claim(10);
    assert.ok(old && waiting);
    await finish(db, old, "delivered", RECORD, at(10));
    await postpone(db, waiting, RECORD, at(1_000));
    const day = 86_400;
    await sweep({ db, clock: () => T0 + 29 * day * 1_000 });
    const statuses = async () =>
      (await db("webhook_deliveries").orderBy("sequence").pluck("status")) as string[];
    assert.deepEqual(await statuses(), ["delivered", "pending", "delivering", "cancelled"]);
    await sweep({ db, clock: () => T0 + 31 * day * 1_000 });
    assert.deepEqual(await statuses(), ["pending", "delivering"]);
  });
});
