import assert from "node:assert/strict";
import {
  createRefusedCalls,
  type RefusedCallRecord,
} from "../../../../src/control/analytics/audit/refused-calls.ts";
import type { ApiCall, CallingActor } from "../../../../src/control/platform/frame/calls.ts";
import { silentLog } from "../../../decision/support.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";

const FLOOD = 1_000;

describe("records of refused calls", () => {
  let database: TestDatabase;
  let counted: Record<RefusedCallRecord, number>;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.close());
  beforeEach(() => {
    counted = { recorded: 0, rate: 0, failed: 0 };
  });
  afterEach(() => database.db("audit_records").delete());

  const open = () =>
    createRefusedCalls({ db: database.db, log: silentLog }, (record, calls) => {
      counted[record] += calls;
    });

  let calls = 0;
  function callBy(caller: CallingActor, status = 403, code: ApiCall["code"] = "INSUFFICIENT_SCOPE"): ApiCall {
    calls += 1;
    return {
      ...{
        requestId: `req_${calls}`,
        startedAt: Date.now(),
        durationMs: 1,
        method: "GET",
        operation: "listUsers",
      },
      ...{ path: "/v1/users", protocol: "HTTP/1.1", status, code, bytes: 0, clientIp: "192.0.2.7", caller },
    };
  }
  const key = (id: string, customerId?: string): CallingActor => ({
    kind: "api_key",
    id,
    ...(customerId !== undefined && { customerId }),
  });

  /** How many calls the records of each actor stand for, and how many records these are. */
  async function recorded(): Promise<Record<string, { calls: number; records: number }>> {
    const rows = await database
      .db("audit_records")
      .where({ kind: "refused_call" })
      .select<{ user_id: string; record: { calls?: number } }[]>("user_id", "record");
    const sums: Record<string, { calls: number; records: number }> = {};
    for (const { user_id, record } of rows) {
      const sum = (sums[user_id] ??= { calls: 0, records: 0 });
      sum.calls += record.calls ?? 1;
      sum.records += 1;
    }
    return sums;
  }

  it("a flood of one caller's hides nobody else's, and all of it is counted", async () => {
    const refused = open();
    for (let n = 0; n < FLOOD; n += 1) refused.note(callBy(key("key_flood", "cus_flood")));
    for (let n = 0; n < 3; n += 1) {
      refused.note(callBy(key("key_other", "cus_other")));
      refused.note(callBy(key("key_of_all")));
      refused.note(callBy({ kind: "dashboard_user", id: "adm_1" }));
      refused.note(callBy({ kind: "anonymous" }, 401, "UNAUTHORIZED"));
    }
    await refused.close();
    const { key_flood: flood, ...others } = await recorded();
    const three = { calls: 3, records: 3 };
    assert.deepEqual(others, { key_other: three, key_of_all: three, adm_1: three, "": three });
    assert.equal(flood?.calls, FLOOD);
    assert.ok(flood.records > 1 && flood.records < FLOOD, `${flood.records} records`);
    assert.equal(counted.recorded + counted.rate, FLOOD + 12);
    assert.equal(counted.recorded, flood.records - 1 + 12);
  });

  it("the keys of one customer are one caller, and its refused ones another", async () => {
    const refused = open();
    for (let n = 0; n < FLOOD; n += 1) {
      refused.note(callBy(key(`key_revoked_${n}`, "cus_1"), 401, "API_KEY_REVOKED"));
      refused.note(callBy(key(`key_elsewhere_${n}`, "cus_1"), 403, "ADDRESS_NOT_ALLOWED"));
      refused.note(callBy(key("key_expired"), 401, "API_KEY_EXPIRED"));
    }
    refused.note(callBy(key("key_good", "cus_1")));
    await refused.close();
    const sums = await recorded();
    assert.deepEqual(sums["key_good"], { calls: 1, records: 1 });
    assert.equal(sums["key_expired"]?.calls, FLOOD);
    assert.ok(sums["key_expired"].records < FLOOD / 2);
    const refusedOnes = Object.entries(sums).filter(([id]) => /revoked|elsewhere/.test(id));
    assert.equal(
      refusedOnes.reduce((sum, [, { calls: of }]) => sum + of, 0),
      2 * FLOOD,
    );
    assert.ok(refusedOnes.length < FLOOD / 2, "one budget, whichever of them is used");
  });

  it("the record of several is the last of them, with their number", async () => {
    const refused = open();
    const flood = Array.from({ length: FLOOD }, () => callBy(key("key_1")));
    for (const call of flood) refused.note(call);
    await refused.close();
    const [row, ...more] = await database.db("audit_records").whereRaw("record -> 'calls' is not null");
    assert.deepEqual(more, []);
    assert.equal(row.request_id, flood.at(-1)?.requestId);
    assert.equal(row.reason, "INSUFFICIENT_SCOPE");
    assert.equal(row.record.calls, counted.rate);
  });

  it("more callers than are told apart lose no call", async () => {
    const refused = open();
    for (let n = 0; n < 1_500; n += 1) refused.note(callBy(key(`key_${n}`)));
    await refused.close();
    const sums = Object.values(await recorded());
    assert.equal(
      sums.reduce((sum, { calls: of }) => sum + of, 0),
      1_500,
    );
  });
});
