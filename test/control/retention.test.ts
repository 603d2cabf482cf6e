import assert from "node:assert/strict";
import { renewFeedGeneration } from "../../src/control/analytics/event-feed-generation.ts";
import { analyticsRoutes } from "../../src/control/analytics/routes.ts";
import { auditRoutes } from "../../src/control/analytics/audit/routes.ts";
import { createKeyring } from "../../src/control/sign-in/issuer/keyring.ts";
import { createMaintenanceClock } from "../../src/control/maintenance-clock.ts";
import { startMaintenance } from "../../src/control/maintenance.ts";
import type { ControlContext } from "../../src/control/platform/context.ts";
import { maintainPartitions } from "../../src/control/analytics/records/maintain-partitions.ts";
import {
  dropPartitions,
  makePartition,
  partitionsOf,
  type DailyTable,
} from "../../src/control/analytics/records/partitions.ts";
import { recordsRoutes } from "../../src/control/analytics/records/routes.ts";
import { silentLog } from "../decision/support.ts";
import { startControl, type RunningControl } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { decisionRecord, GATEWAY_KEY, takeRecords } from "./support/gateway-records.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-03-01T12:00:00Z");

describe("retention", () => {
  let control: RunningControl;
  let now: number;

  beforeEach(async () => {
    now = START;
    control = await startControl({
      clock: () => now,
      settings: {
        retention: { auditMs: 10 * DAY, inputsMs: 3 * DAY, eventsMs: 5 * DAY, deletedMs: 30 * DAY },
      },
      routes: (context) => [...recordsRoutes(context), ...auditRoutes(context), ...analyticsRoutes(context)],
    });
  });
  afterEach(() => control.close());

  const at = (time: number) => new Date(time).toISOString();

  async function take(...times: number[]): Promise<{ accepted: number; rejected: object[] }> {
    const records = times.map((time) => decisionRecord({ timestamp: at(time) }));
    const answer = await control.request("POST", "/gateway/records", { body: { records }, as: GATEWAY_KEY });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as { accepted: number; rejected: object[] };
  }

  /** Where records are, by the last part of the table's name. */
  async function places(table: DailyTable = "audit_records"): Promise<Record<string, number>> {
    const { rows } = await control.database.db.raw<{ rows: { place: string; count: number }[] }>(
      "select tableoid::regclass::text as place, count(*) as count from ?? group by 1",
      [table],
    );
    return Object.fromEntries(rows.map(({ place, count }) => [place.slice(table.length + 1), count]));
  }

  async function logged(): Promise<{ timestamps: string[]; total: number }> {
    const { body } = await control.request("GET", "/audit/logs?limit=100");
    const data = body.data as { timestamp: string }[];
    return {
      timestamps: data.map(({ timestamp }) => timestamp),
      total: body.pagination.total_items as number,
    };
  }

  async function emit(): Promise<void> {
    const origin = { actor: { kind: "system", id: "t", name: "t" }, requestId: "r", clientIp: "" } as const;
    await control.context.units(origin, (unit) => {
      unit.emit({ type: "user.authenticated", customerId: "cus_1", userId: "usr_1", data: {} });
      return Promise.resolve();
    });
  }

  it("makes partitions ahead, once, however many instances do so", async () => {
    await Promise.all([1, 2, 3].map(() => maintainPartitions(control.context)));
    const names = await partitionsOf(control.database.db, "audit_records");
    assert.equal(names.length, 9);
    assert.deepEqual([names[0], names.at(-1)], ["audit_records_20260228", "audit_records_20260308"]);
    assert.equal((await partitionsOf(control.database.db, "events")).length, 9);
  });

  it("drops what is over, and keeps its counts", async () => {
    await maintainPartitions(control.context);
    await take(now - DAY, now);
    await emit();
    assert.deepEqual(await places(), { "20260228": 1, "20260301": 1 });
    now += 5 * DAY;
    await maintainPartitions(control.context);
    // 5 days: of events that is the last one
    assert.deepEqual(await places("events"), { "20260301": 1 });
    now += 5 * DAY;
    await maintainPartitions(control.context);
    assert.deepEqual(await places("events"), {});
    assert.deepEqual(await places(), { "20260301": 1 });
    now += DAY;
    await maintainPartitions(control.context);
    assert.deepEqual(await places(), {});
    const [first] = await partitionsOf(control.database.db, "audit_records");
    assert.equal(first, "audit_records_20260302");

    const range = `from=${at(START - 2 * DAY)}&to=${at(START + DAY)}`;
    const counts = async (interval: string) =>
      (await control.request("GET", `/analytics/dashboard?${range}&interval=${interval}`)).body;
    assert.equal((await counts("hour")).data.requests.total, 2);
    // by the minute for 8 days, by the hour for 100, by the day for 731
    assert.equal((await counts("minute")).error.code, "INVALID_PARAMETER");
    now = START + 102 * DAY;
    await maintainPartitions(control.context);
    assert.equal((await counts("hour")).error.code, "INVALID_PARAMETER");
    assert.equal((await counts("day")).data.requests.total, 2);
    assert.equal((await counts("day")).data.sign_ins.succeeded, 1);
    now = START + 734 * DAY;
    await maintainPartitions(control.context);
    for (const table of [
      "rollup_decisions",
      "rollup_customers",
      "rollup_events",
      "rollup_users",
      "rollup_user_days",
      "rollup_user_activity",
    ])
      assert.deepEqual(await control.database.db(table), [], table);
  });

  it("drops what rules read before the records, and takes none that are older", async () => {
    const withInputs = (time: number) => decisionRecord({ timestamp: at(time), inputs: { path: "/" } });
    await maintainPartitions(control.context);
    await takeRecords(control, [withInputs(now - 4 * DAY), withInputs(now)]);
    assert.deepEqual(await places("record_inputs"), { "20260301": 1 });
    const read = async () => {
      const { body } = await control.request("GET", "/audit/logs?limit=100&inputs=true&kind=decision");
      return (body.data as { inputs?: object }[]).map(({ inputs }) => inputs);
    };
    assert.deepEqual(await read(), [{ path: "/" }, undefined]);
    now += 4 * DAY;
    assert.deepEqual(await read(), [undefined, undefined], "before they are dropped, too");
    await maintainPartitions(control.context);
    assert.deepEqual(await places("record_inputs"), {});
    assert.equal((await logged()).total, 2);
  });

  it("answers nothing that is over, whether it was dropped already or not", async () => {
    await take(now - DAY, now);
    now += 10 * DAY;
    // nothing was dropped: the day before is over, and its number too
    assert.deepEqual(await logged(), { timestamps: [at(START)], total: 1 });
    const { accepted, rejected } = await take(START - DAY);
    assert.deepEqual([accepted, rejected.length], [0, 1]);
  });

  it("makes the partition of a day for which records come late", async () => {
    await take(now - 7 * DAY, now - 7 * DAY + 1, now);
    assert.deepEqual(await places(), { "20260222": 2, "20260301": 1 });
  });

  it("moves what no partition was there for when its day has come", async () => {
    await control.database.db("audit_records").insert({
      ...{ timestamp: new Date(now + 30 * DAY), kind: "change", id: "chg_1", request_id: "", user_id: "" },
      ...{ resource: "", action: "", record: "{}" },
    });
    assert.deepEqual(await places(), { default: 1 });
    now += 29 * DAY;
    await maintainPartitions(control.context);
    assert.deepEqual(await places(), { "20260331": 1 });
    now += 300 * DAY;
    await maintainPartitions(control.context);
    assert.deepEqual(await places(), {});
  });

  it("loses and doubles nothing when a partition is made while records come", async () => {
    const db = control.database.db;
    const day = now + 3 * DAY;
    const insert = async (part: number) => {
      for (let index = 0; index < 20; index++) {
        await db("audit_records").insert({
          timestamp: new Date(day),
          kind: "change",
          id: `chg_${part}_${index}`,
          request_id: "",
          user_id: "",
          resource: "",
          action: "",
          record: "{}",
        });
      }
    };
    const made = async () => {
      await eventually("the first record", async () => (await places())["default"] !== undefined);
      assert.equal(await makePartition(db, "audit_records", day), true);
    };
    await Promise.all([insert(1), insert(2), insert(3), made()]);
    assert.deepEqual(await places(), { "20260304": 60 });
  });

  it("does not wait for a lock that somebody holds on", async () => {
    const db = control.database.db;
    const holder = await db.transaction();
    try {
      await holder.raw("lock table audit_records_default in share mode");
      assert.equal(await makePartition(db, "audit_records", now), false);
      // what comes meanwhile is not lost
      await holder.rollback();
      assert.equal((await take(now)).accepted, 1);
    } finally {
      if (!holder.isCompleted()) await holder.rollback();
    }
  });

  it("drops only whole days", async () => {
    await take(now - 3 * DAY, now - DAY, now);
    const dropped = await dropPartitions(
      control.database.db,
      "audit_records",
      Date.parse("2026-02-28T00:00:00Z"),
    );
    assert.deepEqual(dropped, ["audit_records_20260226"]);
    assert.deepEqual(await places(), { "20260228": 1, "20260301": 1 });
  });

  it("removes nothing too early where the clock of one instance is ahead, and says that it is", async () => {
    now = Date.now();
    // the database is a copy of another, of which maintenance warns as well
    await renewFeedGeneration(control.database.db);
    await take(now);
    const rows = () => control.database.db("audit_records").select("id");
    assert.equal((await rows()).length, 1);
    let warnings = 0;
    let skewMs = 0;
    const instance = {
      ...control.context,
      clock: () => Date.now() + skewMs,
      log: { ...silentLog, warn: () => (warnings += 1) } as unknown as ControlContext["log"],
    };
    const clockOfRun = createMaintenanceClock(instance);
    const run = async () => {
      const clock = await clockOfRun();
      return [Math.round((clock() - Date.now()) / DAY), warnings];
    };
    assert.deepEqual(await run(), [0, 0]);
    skewMs = 92 * DAY;
    assert.deepEqual(
      [await run(), await run()],
      [
        [0, 1],
        [0, 1],
      ],
    );
    await startMaintenance(instance, createKeyring(instance)).close();
    assert.equal((await rows()).length, 1);
    // nor too early where it is the database's that is ahead
    skewMs = -92 * DAY;
    assert.deepEqual(await run(), [-92, 2]);
    skewMs = 0;
    assert.deepEqual(await run(), [0, 2]);
    skewMs = -DAY;
    assert.deepEqual(await run(), [-1, 3]);
  });

  it("goes on beside requests, and ends", async () => {
    const work = startMaintenance(control.context, createKeyring(control.context));
    await work.close();
    assert.equal((await partitionsOf(control.database.db, "events")).length, 9);
  });
});
