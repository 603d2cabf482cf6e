import assert from "node:assert/strict";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { cancelLeftOver } from "../../../src/control/resources/webhooks/delivery-store.ts";
import { bringNumbersForward } from "../../../src/control/numbers.ts";
import type { Database } from "../../../src/storage/index.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { bearer, makeKey, send } from "../../support/guarded-control.ts";
import { endOf, FeedInstance, sessionsOf } from "../support/feed-instance.ts";
import { type State } from "../support/gateway-follower.ts";

/** Logical replication moves rows, but not the sequences that number them. */
describe("the gateway feed on another server, where numbers begin again", () => {
  let database: TestDatabase;
  let db: Database;
  let instance: FeedInstance;
  let key: string;

  before(async () => {
    database = await testDatabase();
    ({ db } = database);
    instance = await FeedInstance.start(database, Date.now, createAuthenticator);
    ({ secret: key } = await makeKey(instance.control, { scope: "gateway" }));
  });
  after(async () => {
    await instance.close();
    await database.close();
  });

  const append = (...ids: string[]) => instance.append(...ids.map((id) => endOf(id)));
  const read = async (after?: string, wait = 0): Promise<State> => {
    const query = after === undefined ? "" : `?after=${after}&wait=${wait}`;
    const answer = await send(instance.control, "GET", `/gateway/state${query}`, bearer(key));
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as State;
  };
  const makeDelivery = (id: string, webhook: string) =>
    db("webhook_deliveries").insert({
      ...{ id, webhook_id: webhook, event_id: `evt_${id}`, event_type: "user.created", payload: "{}" },
      ...{ retried: false, status: "pending", created_at: new Date(), next_attempt_at: new Date() },
    });
  const numbersOf = (sequence: string) =>
    db.raw<{ rows: { last: number }[] }>(`select last_value::int as last from ${sequence}`);

  it("tells each gateway everything as soon as they are brought forward, and what comes afterwards", async () => {
    await append("ses_1", "ses_2", "ses_3", "ses_4");
    const before = await read();
    await append("ses_5");
    const newest = await read();
    assert.equal(await bringNumbersForward(db), false);
    // rows with the first numbers are long gone
    await db("gateway_changes").where("seq", "<", 4).delete();
    await db.raw("alter sequence gateway_changes_seq_seq restart");

    await append("ses_meanwhile");
    assert.deepEqual(sessionsOf(await read(newest.cursor)), [], "nobody hears of it");
    assert.equal(await bringNumbersForward(db), true);
    assert.equal(await bringNumbersForward(db), false);
    for (const { cursor } of [before, newest]) {
      const told = await read(cursor);
      assert.equal(told.complete, true);
      assert.ok(sessionsOf(told).includes("ses_meanwhile"));
      const again = await read(told.cursor);
      assert.deepEqual([again.complete, sessionsOf(again)], [false, []]);
      await append(`ses_after_${cursor}`);
      assert.deepEqual(sessionsOf(await read(again.cursor)), [`ses_after_${cursor}`]);
    }
  });

  it("tells those that wait at once, without a change after it", async () => {
    await append("ses_first", "ses_before");
    const { cursor } = await read();
    await db("gateway_changes").where("session_id", "<>", "ses_before").delete();
    await db.raw("alter sequence gateway_changes_seq_seq restart");
    await append("ses_low");
    // it has waited in vain, and others are told the same until something happens
    assert.deepEqual(sessionsOf(await read(cursor, 2)), []);
    const waiting = read(cursor, 25);
    await instance.waits();
    assert.equal(await bringNumbersForward(db), true);
    const told = await waiting;
    assert.equal(told.complete, true);
    assert.ok(sessionsOf(told).includes("ses_low"));
  });

  it("holds no sequence while it waits for another, which a unit of work may hold", async () => {
    await append("ses_held");
    for (const id of ["whd_held_1", "whd_held_2"]) await makeDelivery(id, "wh_held");
    for (const sequence of ["webhook_deliveries_sequence_seq", "gateway_changes_seq_seq"])
      await db.raw(`alter sequence ${sequence} restart`);
    const unit = await db.transaction();
    try {
      await unit.raw("select nextval('webhook_deliveries_sequence_seq')");
      const heard: string[] = [];
      await assert.rejects(
        bringNumbersForward(db, (sequence) => heard.push(sequence)),
        /lock timeout/,
      );
      assert.deepEqual(heard, ["gateway_changes_seq_seq"]);
      // as a unit does after its deliveries: it waits for nobody, and has a number after all others
      const { rows } = await unit.raw<{ rows: { next: string }[] }>(
        "select nextval('gateway_changes_seq_seq')::text as next",
      );
      const highest = await db("gateway_changes").max({ seq: "seq" }).first<{ seq: number | string }>();
      assert.equal(Number(rows[0]?.next), Number(highest.seq) + 1);
    } finally {
      await unit.rollback();
    }
    assert.equal(await bringNumbersForward(db), true);
    assert.equal(await bringNumbersForward(db), false);
  });

  it("loses no delivery to a webhook that was enabled again on the server before", async () => {
    const at = new Date();
    await db("webhooks").insert({
      ...{
        id: "wh_again",
        customer_id: null,
        url: "https://receiver.example/",
        events: ["*"],
        enabled: true,
      },
      ...{ secret: "sealed", deliver_after: 900_000, created_at: at, updated_at: at },
    });
    await db.raw("alter sequence webhook_deliveries_sequence_seq restart");
    await makeDelivery("whd_meanwhile", "wh_again");
    await cancelLeftOver(db, new Date());
    const statusOf = async (delivery: string) =>
      db("webhook_deliveries").where("id", delivery).first<{ status: string; sequence: string }>();
    assert.equal((await statusOf("whd_meanwhile")).status, "pending");
    assert.equal(await bringNumbersForward(db), true);
    await makeDelivery("whd_afterwards", "wh_again");
    await cancelLeftOver(db, new Date());
    for (const delivery of ["whd_meanwhile", "whd_afterwards"]) {
      const { status, sequence } = await statusOf(delivery);
      assert.equal(status, "pending");
      assert.ok(Number(sequence) > 900_000);
    }
    // what was left over when it was enabled still is
    await db("webhooks").where("id", "wh_again").update({ deliver_after: 900_001 });
    await cancelLeftOver(db, new Date());
    assert.deepEqual(
      [(await statusOf("whd_meanwhile")).status, (await statusOf("whd_afterwards")).status],
      ["cancelled", "pending"],
    );
  });

  it("finds the highest number of millions of deliveries by an index", async () => {
    const { rows } = await db.raw<{ rows: Record<string, string>[] }>(
      "explain select max(sequence) from webhook_deliveries",
    );
    assert.match(rows.map((row) => row["QUERY PLAN"]).join("\n"), /webhook_deliveries_by_sequence/);
  });

  it("brings the numbers of deliveries and endings forward, too", async () => {
    await db("webhook_deliveries").insert({
      ...{ id: "whd_1", webhook_id: "wh_1", event_id: "evt_1", event_type: "webhook.test", payload: "{}" },
      ...{ retried: false, status: "delivered", created_at: new Date() },
    });
    for (const sequence of ["webhook_deliveries_sequence_seq", "gateway_changes_seq_seq"])
      await db.raw(`select setval('${sequence}', 1, false)`);
    assert.equal(await bringNumbersForward(db), true);
    const { rows } = await numbersOf("webhook_deliveries_sequence_seq");
    const row = await db("webhook_deliveries").max({ highest: "sequence" }).first<{ highest: number }>();
    assert.equal(rows[0]?.last, row.highest);
    const after = await db("webhook_deliveries")
      .insert({
        ...{ id: "whd_2", webhook_id: "wh_1", event_id: "evt_2", event_type: "webhook.test", payload: "{}" },
        ...{ retried: false, status: "delivered", created_at: new Date() },
      })
      .returning<{ sequence: number }[]>("sequence");
    assert.ok((after[0]?.sequence ?? 0) > row.highest);
  });
});
