import assert from "node:assert/strict";
import { maintainPartitions } from "../../../../src/control/analytics/records/maintain-partitions.ts";
import { readDecisionRecord } from "../../../../src/decision/replay/index.ts";
import { keyOf } from "../../support/user-directory.ts";
import { decisions, useAuditTrail } from "../../support/audit-trail.ts";
import { decisionRecord, outcomeRecord, sendRecords } from "../../support/gateway-records.ts";

/** What JSON can hold and jsonb cannot, or would change. */
const INPUTS = {
  ...{ at: 0, environment: "production", method: "GET", path: "/orders", host: "a", scheme: "http" },
  ...{ protocol: "HTTP/1.1", caller: "identified" },
  values: { "user.note": "\0 \ud800 é", "user.amount": 1e21, "user.list": [null, { a: -0.5 }] },
};

describe("audit trail: what rules read", () => {
  const { control, list, request, take } = useAuditTrail();

  it("is answered where it is asked for, exactly as it was sent", async () => {
    const [plain, read] = decisions(2, (index) => (index === 1 ? { inputs: INPUTS } : {}));
    await take([plain!, read!]);
    const stored = await control().database.db("audit_records").pluck<object[]>("record");
    assert.ok(stored.every((record) => !("inputs" in record)));
    assert.deepEqual(
      (await list()).entries.map((entry) => "inputs" in entry),
      [false, false],
    );
    const { entries, pagination } = await list({ inputs: "true" });
    assert.deepEqual(
      entries.map(({ inputs }) => inputs),
      [INPUTS, undefined],
    );
    assert.equal(pagination["total_items"], 2);
    const { text } = await request("?inputs=true&format=ndjson&order=asc");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    assert.deepEqual(lines, [...entries].reverse());
    // as `gatehouse replay --records URL` reads it
    const record = readDecisionRecord(lines[1]);
    assert.ok(typeof record === "object" && "inputs" in record);
    assert.deepEqual(record.inputs, INPUTS);
  });

  it("is stored once, like its record", async () => {
    const [read] = decisions(1, () => ({ inputs: INPUTS }));
    await take([read!]);
    const { body } = await sendRecords(control(), [{ ...read!, inputs: { ...INPUTS, path: "/other" } }]);
    assert.equal(body.data.duplicates, 1);
    assert.deepEqual((await list({ inputs: "true" })).entries[0]?.["inputs"], INPUTS);
  });

  it("is not answered unasked where an earlier release has stored it with the record", async () => {
    await take(decisions(1, () => ({ customer_id: "cus_1" })));
    await control()
      .database.db("audit_records")
      .update({
        record: control().database.db.raw("record || ?::jsonb", [
          JSON.stringify({ inputs: { values: { "target_user.salary": 1 } } }),
        ]),
      });
    for (const as of [keyOf("cus_1"), undefined]) {
      const { status, body } = await request("", as === undefined ? {} : { as });
      assert.equal(status, 200);
      assert.deepEqual(
        (body.data as object[]).map((entry) => "inputs" in entry),
        [false],
      );
    }
  });

  it("is not for keys that are limited to a customer, and has limits of its own", async () => {
    const { status, body } = await request("?inputs=true", { as: keyOf("cus_1") });
    assert.deepEqual([status, body.error.code], [403, "CUSTOMER_KEY_NOT_ALLOWED"]);
    assert.equal((await request("?inputs=yes")).body.error.code, "INVALID_PARAMETER");
    const wrong = [7, []].map((inputs) => decisionRecord({ inputs }));
    const answer = await sendRecords(control(), wrong);
    assert.deepEqual(
      answer.body.data.rejected.map(({ message }: { message: string }) => message),
      ["`inputs` must be an object", "`inputs` must be an object"],
    );
  });

  it("is left out where it is too much, and the record is stored", async () => {
    const nested = JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) as unknown;
    const most = [{ a: nested }, { a: "x".repeat(65_536) }];
    await take(decisions(2, (index) => ({ inputs: most[index] })));
    assert.deepEqual(
      (await list({ inputs: "true" })).entries.map(({ inputs }) => inputs),
      [{ left_out: "size" }, { left_out: "size" }],
    );
  });

  it("is only for decisions: with an outcome it is not stored at all", async () => {
    const [decided] = decisions(1);
    await take([decided!, { ...outcomeRecord({ decision_id: decided!.decision_id }), inputs: INPUTS }]);
    const stored = await control().database.db("audit_records").pluck<object[]>("record");
    assert.deepEqual([stored.length, stored.some((record) => "inputs" in record)], [2, false]);
    assert.deepEqual(await control().database.db("record_inputs"), []);
  });

  it("is gone after `retention.inputs`, to the day, and its record stays", async () => {
    const { context, database } = control();
    const [recent] = decisions(1, () => ({ inputs: INPUTS }));
    await take([recent!]);
    assert.deepEqual((await list({ inputs: "true" })).entries[0]?.["inputs"], INPUTS);
    const [time = new Date(0)] = await database.db("record_inputs").pluck<Date[]>("timestamp");
    const days = context.settings.retention.inputsMs / 86_400_000;
    // the last moment of the day that is kept, and the first one after it
    const kept = Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + days + 1) - 1;
    for (const [now, isThere] of [
      [kept, true],
      [kept + 1, false],
    ] as const) {
      const later = { ...context, clock: () => now };
      await maintainPartitions(later);
      assert.equal((await database.db("record_inputs")).length > 0, isThere, new Date(now).toISOString());
    }
    assert.equal((await list({ inputs: "true" })).entries.length, 1, "the record stays");
  });
});
