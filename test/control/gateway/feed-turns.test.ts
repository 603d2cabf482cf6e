import assert from "node:assert/strict";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { pageCursorOf, parsePageCursor } from "../../../src/control/gateway/page-cursor.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import { refusedTurns } from "../../../src/processes/control-plane/pools.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { createControlPlaneMetrics } from "../../../src/telemetry/control-plane-metrics.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeKey, send } from "../../support/guarded-control.ts";
import { endOf, FeedInstance, sessionsOf } from "../support/feed-instance.ts";
import type { State } from "../support/gateway-follower.ts";
import { lockWaits } from "../../support/lock-waits.ts";

describe("a gateway that asks for many positions at once", () => {
  let database: TestDatabase;
  let instance: FeedInstance;

  before(async () => {
    database = await testDatabase();
    instance = await FeedInstance.start(database, Date.now, createAuthenticator, { pageChanges: 1 });
  });
  after(async () => {
    await instance.close();
    await database.close();
  });

  it("has two reads at a time, and another gateway hears of a change meanwhile", async () => {
    const keys = await Promise.all([1, 2].map(() => makeKey(instance.control, { scope: "gateway" })));
    const [loud, quiet] = keys.map(({ secret }) => bearer(secret));
    assert.ok(loud && quiet);
    await instance.append(endOf("ses_1"), endOf("ses_2"));
    const ask = (query: string, headers: Readonly<Record<string, string>>) =>
      send(instance.control, "GET", `/gateway/state?${query}`, headers);
    const { cursor } = (await ask("pages=true", quiet)).body.data as State;
    const place = parsePageCursor(cursor);
    assert.ok(place);
    const end = `${place.end.seq}.${place.end.tag}`;
    await instance.append(endOf("ses_3"));
    const held = await database.db.transaction();
    try {
      await held.raw("lock table gateway_feed in access exclusive mode");
      const blocked = async () => {
        return (await lockWaits(database.db)).length;
      };
      const invented = Array.from({ length: 20 }, () =>
        pageCursorOf({ ...place, section: 0, after: newId("customer") }),
      );
      const floods = invented.map((after) => ask(`pages=true&after=${encodeURIComponent(after)}`, loud));
      await eventually("all of them", () => instance.reading() === 20);
      await eventually("its share of reads", async () => (await blocked()) === 2);
      const change = ask(`after=${encodeURIComponent(end)}`, quiet);
      await eventually("the other one's read", async () => (await blocked()) === 3);
      await held.rollback();
      assert.deepEqual(sessionsOf((await change).body.data as State), ["ses_3"]);
      const statuses = (await Promise.all(floods)).map(({ status }) => status);
      assert.deepEqual([...new Set(statuses)], [200]);
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
  });

  it("is refused after a while, which is counted and logged once", async () => {
    const metrics = createControlPlaneMetrics();
    const logged: string[] = [];
    const log = createLog({
      ...{ level: "warn", name: "control" },
      destination: { write: (line: string) => void logged.push(line) },
    });
    const impatient = await FeedInstance.start(database, Date.now, createAuthenticator, {
      pageChanges: 1,
      longestTurnMs: 4_000,
      onRefusedTurn: refusedTurns("feed", { environment: "production", log, metrics }),
    });
    const key = await makeKey(impatient.control, { scope: "gateway" });
    const ask = (query: string) =>
      send(impatient.control, "GET", `/gateway/state?${query}`, bearer(key.secret));
    const place = parsePageCursor(((await ask("pages=true")).body.data as State).cursor);
    const held = await database.db.transaction();
    try {
      assert.ok(place);
      await held.raw("lock table gateway_feed in access exclusive mode");
      const flood = Array.from({ length: 6 }, () =>
        pageCursorOf({ ...place, section: 0, after: newId("customer") }),
      ).map((after) => ask(`pages=true&after=${encodeURIComponent(after)}`));
      await eventually("all of them", () => impatient.reading() === 6);
      const refusals = async () =>
        (await metrics.turnsRefused.get()).values.map(({ labels, value }) => [
          labels.workload,
          labels.reason,
          value,
        ]);
      await eventually("the refusals", async () => (await refusals())[0]?.[2] === 4);
      assert.deepEqual(await refusals(), [["feed", "timeout", 4]]);
      await held.rollback();
      const statuses = (await Promise.all(flood)).map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, 200, 503, 503, 503, 503]);
      assert.equal(logged.length, 1);
      assert.ok(logged[0]?.includes("refused requests of a caller"));
    } finally {
      if (!held.isCompleted()) await held.rollback();
      await impatient.close();
    }
  });

  it("reads once for all that ask for the complete state together, whatever their keys", async () => {
    const keys = await Promise.all([1, 2, 3].map(() => makeKey(instance.control, { scope: "gateway" })));
    let reads = 0;
    const note = ({ sql }: { sql: string }) => {
      if (sql.includes("from gateway_feed as feed")) reads += 1;
    };
    const held = await database.db.transaction();
    await held.raw("lock table gateway_feed in access exclusive mode");
    database.db.on("query", note);
    try {
      const all = Array.from({ length: 30 }, (_, index) =>
        send(instance.control, "GET", "/gateway/state?pages=true", bearer(keys[index % 3]!.secret)),
      );
      await eventually("all of them", () => instance.reading() === 30);
      await held.rollback();
      for (const { status } of await Promise.all(all)) assert.equal(status, 200);
      // one that began before some had asked, and one for those
      assert.ok(reads <= 2, `${reads} reads`);
    } finally {
      database.db.removeListener("query", note);
      if (!held.isCompleted()) await held.rollback();
    }
  });
});
