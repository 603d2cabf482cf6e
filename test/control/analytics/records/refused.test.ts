import assert from "node:assert/strict";
import { recordsRoutes } from "../../../../src/control/analytics/records/routes.ts";
import { startControl, FULL_KEY, type RunningControl } from "../../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";
import {
  assertRollupsExact,
  decisionRecord,
  GATEWAY_KEY,
  outcomeRecord,
  storedRecords,
  takenRecords,
} from "../../support/gateway-records.ts";

const NOW = Date.parse("2026-03-01T12:30:00Z");

describe("records of gateways: what is refused, and what is taken all the same", () => {
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

  const taken = (records: readonly unknown[]) => takenRecords(control, records);
  const stored = () => storedRecords(database.db);

  /** The body as text, for what `JSON.stringify` does not write. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is what tests find out
  async function sendText(text: string, headers: object = {}): Promise<{ status: number; body: any }> {
    const answer = await fetch(`${control.url}/v1/gateway/records`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${Buffer.from(JSON.stringify(GATEWAY_KEY)).toString("base64url")}`,
        ...headers,
      },
      body: text,
    });
    return { status: answer.status, body: await answer.json() };
  }

  it("rejects a bad record by itself", async () => {
    let nested: object = {};
    for (let depth = 0; depth < 100; depth++) nested = { nested };
    const bad: [unknown, RegExp][] = [
      [null, /must be an object/],
      [[], /must be an object/],
      ["text", /must be an object/],
      [{}, /`decision`/],
      [decisionRecord({ decision: "PERHAPS" }), /`decision`/],
      [decisionRecord({ reason: "lower" }), /`reason`/],
      [decisionRecord({ timestamp: "yesterday" }), /`timestamp`/],
      [decisionRecord({ timestamp: "2026-13-01T00:00:00Z" }), /`timestamp`/],
      [decisionRecord({ timestamp: "2026-03-01T12:00:00" }), /`timestamp`/],
      [decisionRecord({ timestamp: "2026-02-30T00:00:00Z" }), /`timestamp`/],
      [decisionRecord({ timestamp: "2026-02-29T23:59:59+02:00" }), /`timestamp`/],
      [decisionRecord({ decision_id: "x".repeat(65) }), /`decision_id`/],
      [decisionRecord({ decision_id: "with space" }), /`decision_id`/],
      [decisionRecord({ user_id: "u".repeat(1025) }), /`user_id`.*1024/],
      [decisionRecord({ user_id: "ü".repeat(600) }), /`user_id`.*1024/],
      // each is stored as a character of three bytes
      [decisionRecord({ user_id: "\0".repeat(400) }), /`user_id`.*1024/],
      [decisionRecord({ decision_id: "", user_id: nested }), /`user_id`/],
      [decisionRecord({ decision_id: "" }, { nested }), /nested/],
      [decisionRecord({ customer_id: 7 }), /`customer_id`/],
      [decisionRecord({ evaluation_time_us: -1 }), /`evaluation_time_us`/],
      [decisionRecord({ evaluation_time_us: 1e300 }), /`evaluation_time_us`/],
      [decisionRecord({ rule: "r".repeat(1025) }), /`rule`/],
      [decisionRecord({ trace: nested }), /nested/],
      [decisionRecord({ trace: "x".repeat(300_000) }), /262144/],
      [decisionRecord({ timestamp: "2026-02-22T12:29:59.999Z" }), /too old/],
      [
        decisionRecord({ timestamp: "2026-03-01T12:35:00.001Z" }),
        /5 minutes in the future: the time here is 2026-03-01T12:30/,
      ],
      [outcomeRecord({ timestamp: "9998-01-01T00:00:00.000Z" }), /5 minutes in the future/],
      [decisionRecord({ timestamp: "0001-01-01T00:00:00Z" }), /too old/],
      [outcomeRecord({ event: "other" as "response" }), /`event`/],
      [outcomeRecord({ decision_id: "" }), /`decision_id`/],
    ];
    const good = decisionRecord();
    const { accepted, rejected } = await taken([...bad.map(([record]) => record), good]);
    assert.equal(accepted, 1);
    assert.deepEqual(
      rejected.map(({ index }: { index?: number }) => index),
      bad.map((_, index) => index),
    );
    for (const [index, [, message]] of bad.entries())
      assert.match((rejected[index] as { message: string }).message, message);
    assert.deepEqual(
      (await stored()).map(({ id }) => id),
      [good.decision_id],
    );
  });

  it("takes what is as old and as far ahead as may be, and says of what is not whether it is the time", async () => {
    const at = (timestamp: string) => decisionRecord({ timestamp });
    const { accepted, rejected } = await taken([
      at("2026-02-22T12:30:00.000Z"),
      at("2026-03-01T12:35:00.000Z"),
      at("2026-03-01T12:35:00.001Z"),
      at("2026-02-22T12:29:59.999Z"),
      {},
    ]);
    assert.equal(accepted, 2);
    assert.deepEqual(
      rejected.map(({ code }: { code?: string }) => code),
      ["CLOCK_AHEAD", "TOO_OLD", "INVALID_RECORD"],
    );
    await assertRollupsExact(database.db);
  });

  it("refuses a batch that is none", async () => {
    for (const [body, status] of [
      [{}, 422],
      [{ records: {} }, 422],
      [{ records: [], more: 1 }, 422],
      [{ records: Array.from({ length: 5001 }, () => ({})) }, 422],
    ] as const) {
      const answer = await control.request("POST", "/gateway/records", { body, as: GATEWAY_KEY });
      assert.equal(answer.status, status, answer.text);
    }
    assert.equal((await sendText('{"records":[')).status, 400);
    assert.equal((await stored()).length, 0);
  });

  it("takes U+0000, halves of surrogate pairs and odd names, as far as PostgreSQL can hold them", async () => {
    const odd = decisionRecord(
      { user_id: "a\0b", resource: "/\ud800", host: "h\0\udc00" },
      { "na\0me": ["\ud83d"] },
    );
    const { accepted, rejected } = await taken([odd, decisionRecord()]);
    assert.deepEqual([accepted, rejected], [2, []]);
    const row = (await stored()).find(({ id }) => id === odd.decision_id);
    assert.equal(row?.user_id, "a\ufffdb");
    assert.equal(row.resource, "/\ufffd");
    assert.equal(row.record["host"], "h\ufffd\ufffd");
    assert.deepEqual(row.record["na\ufffdme"], ["\ufffd"]);
    // sent again it is the same record
    assert.equal((await taken([odd])).duplicates, 1);
  });

  it("takes what JSON allows and the API refuses elsewhere", async () => {
    const record = JSON.stringify(decisionRecord()).slice(0, -1);
    const deep = `${"[".repeat(900)}${"]".repeat(900)}`;
    const texts = [
      `${record},"decision_id":"dec_a","host":"first","host":"second"}`,
      `${record},"decision_id":"dec_b","__proto__":{"polluted":true}}`,
      `${record},"decision_id":"dec_c","deep":${deep}}`,
      `${record},"decision_id":"dec_d","number":1e999}`,
    ];
    const { status, body } = await sendText(`{"records":[${texts.join(",")}]}`);
    assert.equal(status, 200);
    assert.deepEqual(body.data, {
      accepted: 3,
      duplicates: 0,
      rejected: [
        { index: 2, code: "INVALID_RECORD", message: "the record is nested more than 64 levels deep" },
      ],
    });
    const rows = new Map((await stored()).map((row) => [row.id, row.record]));
    assert.equal(rows.get("dec_a")?.["host"], "second");
    assert.equal(Object.getOwnPropertyDescriptor(rows.get("dec_b"), "__proto__")?.enumerable, true);
    assert.equal(rows.get("dec_d")?.["number"], null);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it("is for gateways: no other scope, and no key of one customer", async () => {
    const as = [
      [{ ...FULL_KEY, scope: "read_only" }, 403],
      [{ ...FULL_KEY, scope: "configuration" }, 403],
      [{ ...FULL_KEY, scope: "gateway", customerId: "cus_1" }, 403],
      [null, 401],
    ] as const;
    for (const [actor, status] of as) {
      for (const path of ["/gateway/records", "/gateway/statistics"])
        assert.equal(
          (await control.request("POST", path, { body: { records: [] }, as: actor })).status,
          status,
        );
    }
  });

  describe("a record that must not hold up the others of its batch", () => {
    for (const [name, parts] of [
      ["of the year 10000, by its zone", { timestamp: "9999-12-31T23:59:59-14:00" }],
      ["of the last moment that has four digits", { timestamp: "9999-12-31T23:59:59.999Z" }],
      ["that took as long as a number can say", { evaluation_time_us: Number.MAX_SAFE_INTEGER }],
      [
        "with the longest texts",
        {
          customer_id: "c".repeat(512),
          user_id: "u".repeat(1024),
          rule: "r".repeat(1024),
          rule_resource: "g".repeat(4096),
        },
      ],
      [
        "with texts of many bytes",
        {
          customer_id: "\u{1f600}".repeat(128),
          user_id: "\u{1f600}".repeat(256),
          rule_resource: "\u{1f600}".repeat(400),
          rule: "x",
        },
      ],
      [
        "of a violation with all of that",
        {
          decision: "DENY",
          reason: "MFA_REQUIRED",
          customer_id: "\u{1f600}".repeat(128),
          user_id: "\u{1f600}".repeat(256),
          customer_policy_set: "s".repeat(9000),
          resource: `/${"r".repeat(16_000)}`,
        },
      ],
    ] as const) {
      it(`one ${name}`, async () => {
        const records = [decisionRecord(parts), decisionRecord()];
        const answer = await control.request("POST", "/gateway/records", {
          body: { records },
          as: GATEWAY_KEY,
        });
        assert.equal(answer.status, 200, answer.text);
        const { accepted, rejected } = answer.body.data as { accepted: number; rejected: object[] };
        assert.equal(accepted + rejected.length, 2);
        assert.ok(accepted >= 1);
      });
    }
  });

  describe("a batch that is nested deeper than a function can walk", () => {
    const deep = (depth: number) => {
      const record = JSON.stringify(decisionRecord()).slice(0, -1);
      return `{"records":[${record},"deep":${"[".repeat(depth)}${"]".repeat(depth)}}]}`;
    };

    for (const headers of [{}, { "idempotency-key": "deep" }] as const)
      it(`is refused, and as deep as is read its record alone is: ${JSON.stringify(headers)}`, async () => {
        const send = async (text: string) => {
          const { status, body } = await sendText(text, headers);
          return [status, body] as const;
        };
        for (const depth of [998, 100_000]) {
          const [status, body] = await send(deep(depth));
          assert.deepEqual([status, body.error.code], [400, "MALFORMED_JSON"]);
        }
        // three levels are around it
        const [status, body] = await send(deep(997));
        assert.deepEqual([status, body.data.accepted, body.data.rejected.length], [200, 0, 1]);
      });
  });
});
