import assert from "node:assert/strict";
import type { Knex } from "knex";
import { newId } from "../../../../src/control/platform/ids.ts";
import { countDeliveries } from "../../../../src/control/resources/webhooks/count-deliveries.ts";
import { insertDeliveries } from "../../../../src/control/resources/webhooks/enqueue.ts";
import { claimDue } from "../../../../src/control/resources/webhooks/outbox.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(T0 + seconds * 1_000);

describe("webhooks: counts for operators", () => {
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
  const deliver = (webhookId: string, seconds: number) =>
    insertDeliveries(db, [
      {
        id: newId("delivery"),
        webhook_id: webhookId,
        event_id: newId("event"),
        event_type: "user.authenticated",
        payload: "{}",
        created_at: at(seconds),
        retried: true,
        priority: 1,
      },
    ]);

  it("are zeros where there is nothing", async () => {
    const nothing = { active: 0, paused: 0, disabled: 0, waiting: 0, delaySeconds: 0 };
    assert.deepEqual(await countDeliveries(db, at(0)), nothing);
  });

  it("say how overdue the oldest delivery is, of webhooks that are sent to", async () => {
    const active = await webhook();
    const paused = await webhook({ failures: 3, paused_until: at(1_000) });
    const disabled = await webhook({ enabled: false, disabled_at: at(0), disabled_reason: "failing" });
    for (const id of [paused, disabled]) await deliver(id, 0);
    for (const seconds of [40, 50, 70]) await deliver(active, seconds);
    assert.deepEqual(await countDeliveries(db, at(60)), {
      ...{ active: 1, paused: 1, disabled: 1 },
      ...{ waiting: 5, delaySeconds: 20 },
    });
    // the pause is over
    assert.deepEqual(await countDeliveries(db, at(1_000)), {
      ...{ active: 2, paused: 0, disabled: 1 },
      ...{ waiting: 5, delaySeconds: 1_000 },
    });
  });

  it("do not call what is in progress overdue, until its claim has expired", async () => {
    await deliver(await webhook(), 0);
    await claimDue(db, { now: at(10), until: at(60), most: 1 });
    const of = async (seconds: number) => {
      const { waiting, delaySeconds } = await countDeliveries(db, at(seconds));
      return { waiting, delaySeconds };
    };
    assert.deepEqual(await of(30), { waiting: 1, delaySeconds: 0 });
    assert.deepEqual(await of(90), { waiting: 1, delaySeconds: 30 });
  });
});
