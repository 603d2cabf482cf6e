import assert from "node:assert/strict";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
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
  const read = async (after?: string): Promise<State> => {
    const query = after === undefined ? "" : `?after=${after}&wait=0`;
    const answer = await send(instance.control, "GET", `/gateway/state${query}`, bearer(key));
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as State;
  };
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
