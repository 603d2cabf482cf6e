import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { recordsRoutes } from "../../../../src/control/analytics/records/routes.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";
import { GATEWAY_KEY } from "../../support/gateway-records.ts";

const NOW = Date.parse("2026-03-01T12:30:00Z");

describe("statistics of gateways", () => {
  let database: TestDatabase;
  let control: RunningControl;

  beforeEach(async () => {
    database = await testDatabase();
    control = await startControl({ database, clock: () => NOW, routes: recordsRoutes });
  });
  afterEach(async () => {
    await control.close();
    await database.close();
  });

  const told = {
    instance: "gw-1/worker-0",
    sequence: 1,
    from: "2026-03-01T12:00:00Z",
    to: "2026-03-01T12:00:10Z",
    caches: [{ name: "decisions", hits: 90, misses: 10, evictions: 1 }],
    audit: { decided: 100, recorded: 99, dropped: 1 },
  };
  const tell = (body: object, as: Actor = GATEWAY_KEY) =>
    control.request("POST", "/gateway/statistics", { body, as });

  it("are counted once for each sequence of an instance", async () => {
    assert.deepEqual((await tell(told)).body.data, { accepted: true });
    assert.deepEqual((await tell(told)).body.data, { accepted: false, reason: "DUPLICATE" });
    assert.deepEqual((await tell({ ...told, sequence: 2 })).body.data, { accepted: true });
    assert.deepEqual((await tell({ ...told, instance: "gw-2" })).body.data, { accepted: true });
    const rows = await database
      .db("rollup_caches")
      .where({ granularity: "minute", cache: "decisions" })
      .select("hits", "misses", "evictions", "start");
    assert.deepEqual(rows, [
      { hits: 270, misses: 30, evictions: 3, start: new Date("2026-03-01T12:00:00Z") },
    ]);
    assert.deepEqual(await database.db("rollup_audit").where({ granularity: "day" }).select("dropped"), [
      { dropped: 3 },
    ]);
  });

  it("of one application do not stand in the way of another's", async () => {
    await tell(
      { ...told, audit: { decided: 0, recorded: 0, dropped: 0 } },
      { ...FULL_KEY, id: "key_of_other" },
    );
    assert.deepEqual((await tell(told)).body.data, { accepted: true });
    // a key that took the place of another sends for the same application
    const rolled = { ...FULL_KEY, id: "key_rolled", familyId: GATEWAY_KEY.id };
    assert.equal((await tell(told, rolled)).body.data.reason, "DUPLICATE");
  });

  it("are counted once beside an instance of the version before", async () => {
    const { db } = database;
    // as that version does it
    const takeEarlier = (sequence: number) =>
      db("gateway_statistics")
        .insert({ instance: told.instance, sequence, received_at: new Date(NOW) })
        .onConflict(["instance", "sequence"])
        .ignore()
        .returning("sequence");
    assert.equal((await takeEarlier(1)).length, 1);
    assert.equal((await tell(told)).body.data.reason, "DUPLICATE");
    assert.deepEqual((await tell({ ...told, sequence: 2 })).body.data, { accepted: true });
    assert.deepEqual(await takeEarlier(2), []);
  });

  it("are not counted for a time that is too far from now", async () => {
    const reasonAt = async (minutes: number, sequence: number) =>
      (await tell({ ...told, sequence, to: new Date(NOW + minutes * 60_000).toISOString() })).body.data
        .reason;
    const week = 7 * 24 * 60;
    assert.deepEqual(
      [await reasonAt(6, 1), await reasonAt(-week - 1, 1), await reasonAt(-week, 1), await reasonAt(5, 2)],
      ["CLOCK_AHEAD", "TOO_OLD", undefined, undefined],
    );
    const { length } = await database.db("rollup_audit").where({ granularity: "minute" });
    assert.equal(length, 2);
  });

  it("never count into the future", async () => {
    await tell({ ...told, to: new Date(NOW + 4 * 60_000).toISOString() });
    const [row] = (await database.db("rollup_audit").where({ granularity: "minute" })) as { start: Date }[];
    assert.deepEqual(row?.start, new Date(NOW));
  });

  it("are refused with the path of what is wrong", async () => {
    const answer = await tell({ ...told, caches: [{ ...told.caches[0], hits: -1 }], sequence: 1.5 });
    assert.equal(answer.status, 422);
    const paths = (answer.body.error.details.fields as { path: string }[]).map(({ path }) => path);
    assert.deepEqual(paths.sort(), ["caches.0.hits", "sequence"]);
  });

  describe("of a time that cannot be counted by", () => {
    for (const to of ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-14:00"]) {
      it(`${to} is refused`, async () => {
        const audit = { decided: 1, recorded: 1, dropped: 0 };
        const body = { instance: "gw", sequence: 1, from: "2026-03-01T12:00:00Z", to, caches: [], audit };
        const answer = await tell(body);
        assert.equal(answer.status, 422, answer.text);
        assert.equal(answer.body.error.details.fields[0].path, "to");
      });
    }
  });
});
