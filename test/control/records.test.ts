import assert from "node:assert/strict";
import { recordsRoutes } from "../../src/control/records/routes.ts";
import { startControl, FULL_KEY, type RunningControl } from "../support/control.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { assertRollupsExact, decisionRecord, GATEWAY_KEY, outcomeRecord } from "./support/gateway-records.ts";

const NOW = Date.parse("2026-03-01T12:30:00Z");

interface StoredRow {
  readonly id: string;
  readonly kind: string;
  readonly customer_id: string | null;
  readonly user_id: string;
  readonly resource: string;
  readonly record: Record<string, unknown>;
}

describe("records of gateways", () => {
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

  function send(records: readonly unknown[], to = control) {
    return to.request("POST", "/gateway/records", { body: { records }, as: GATEWAY_KEY });
  }

  /** The body as text, for what `JSON.stringify` does not write. */
  async function sendText(text: string): Promise<{ status: number; body: { data: unknown } }> {
    const answer = await fetch(`${control.url}/v1/gateway/records`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${Buffer.from(JSON.stringify(GATEWAY_KEY)).toString("base64url")}`,
      },
      body: text,
    });
    return { status: answer.status, body: (await answer.json()) as { data: unknown } };
  }

  async function taken(records: readonly unknown[], to = control) {
    const answer = await send(records, to);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as { accepted: number; duplicates: number; rejected: object[] };
  }

  async function stored(): Promise<StoredRow[]> {
    return (await database.db("audit_records").orderBy("id").orderBy("kind")) as StoredRow[];
  }

  it("stores each once, however often it is sent, and counts it once", async () => {
    const first = [decisionRecord(), decisionRecord({ decision: "DENY", reason: "CONDITION_FALSE" })];
    const more = [
      decisionRecord({ user_id: "", customer_id: undefined, rule: null, rule_resource: undefined }),
    ];
    assert.deepEqual(await taken(first), { accepted: 2, duplicates: 0, rejected: [] });
    assert.deepEqual(await taken([...first, ...more, ...more]), { accepted: 1, duplicates: 3, rejected: [] });
    assert.equal((await stored()).length, 3);
    await assertRollupsExact(database.db);
    assert.deepEqual(await taken([]), { accepted: 0, duplicates: 0, rejected: [] });
  });

  it("keeps every member, those that are not known too", async () => {
    const record = decisionRecord({ trace: { steps: [1, { a: null }] }, something_new: "x", __proto: 1 });
    await taken([record]);
    const [row] = await stored();
    assert.deepEqual(row?.record, {
      evaluation_time_ms: 0,
      policy_digest: record["policy_digest"],
      host: record["host"],
      raw_path: record["raw_path"],
      rule_resource: record["rule_resource"],
      trace: { steps: [1, { a: null }] },
      something_new: "x",
      __proto: 1,
    });
  });

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
      [decisionRecord({ decision_id: "x".repeat(65) }), /`decision_id`/],
      [decisionRecord({ decision_id: "with space" }), /`decision_id`/],
      [decisionRecord({ user_id: "u".repeat(1025) }), /`user_id`.*1024/],
      [decisionRecord({ user_id: "ü".repeat(600) }), /`user_id`.*1024/],
      // each is stored as a character of three bytes
      [decisionRecord({ user_id: "\0".repeat(400) }), /`user_id`.*1024/],
      [decisionRecord({ decision_id: "", user_id: nested }), /`user_id`/],
      [decisionRecord({ decision_id: "", nested }), /nested/],
      [decisionRecord({ customer_id: 7 }), /`customer_id`/],
      [decisionRecord({ evaluation_time_us: -1 }), /`evaluation_time_us`/],
      [decisionRecord({ evaluation_time_us: 1e300 }), /`evaluation_time_us`/],
      [decisionRecord({ rule: "r".repeat(1025) }), /`rule`/],
      [decisionRecord({ trace: nested }), /nested/],
      [decisionRecord({ trace: "x".repeat(300_000) }), /262144/],
      [decisionRecord({ timestamp: "2025-11-30T23:59:59.999Z" }), /older/],
      [decisionRecord({ timestamp: "0001-01-01T00:00:00Z" }), /older/],
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
    const odd = decisionRecord({
      user_id: "a\0b",
      resource: "/\ud800",
      host: "h\0\udc00",
      "na\0me": ["\ud83d"],
    });
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
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
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
      rejected: [{ index: 2, message: "the record is nested more than 64 deep" }],
    });
    const rows = new Map((await stored()).map((row) => [row.id, row.record]));
    assert.equal(rows.get("dec_a")?.["host"], "second");
    assert.equal(Object.getOwnPropertyDescriptor(rows.get("dec_b"), "__proto__")?.enumerable, true);
    assert.equal(rows.get("dec_d")?.["number"], null);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it("tells records without an id apart by their content", async () => {
    const nameless = { ...decisionRecord(), decision_id: "", detail: "the record could not be built: a" };
    const other = { ...nameless, detail: "the record could not be built: b" };
    assert.equal((await taken([nameless, other])).accepted, 2);
    assert.equal((await taken([nameless, other])).duplicates, 2);
  });

  it("keeps outcomes beside their decision, and knows whose they are", async () => {
    const before = decisionRecord({ customer_id: "cus_a", user_id: "usr_a" });
    const beside = decisionRecord({ customer_id: "cus_b", user_id: "usr_b" });
    await taken([before]);
    const outcomes = [
      outcomeRecord({ decision_id: before.decision_id }),
      outcomeRecord({ decision_id: before.decision_id, event: "connection", result: "closed" }),
      outcomeRecord({ decision_id: beside.decision_id }),
      outcomeRecord({ decision_id: "dec_unknown" }),
    ];
    assert.equal((await taken([...outcomes, beside])).accepted, 5);
    assert.equal((await taken(outcomes)).duplicates, 4);
    const whose = new Map(
      (await stored()).map((row) => [`${row.id} ${row.kind}`, [row.customer_id, row.user_id]]),
    );
    assert.deepEqual(whose.get(`${before.decision_id} response`), ["cus_a", "usr_a"]);
    assert.deepEqual(whose.get(`${before.decision_id} connection`), ["cus_a", "usr_a"]);
    assert.deepEqual(whose.get(`${beside.decision_id} response`), ["cus_b", "usr_b"]);
    assert.deepEqual(whose.get("dec_unknown response"), [null, ""]);
    // outcomes are no decisions
    await assertRollupsExact(database.db);
  });

  it("announces violations of policies once", async () => {
    const denied = (reason: string, changes = {}) => decisionRecord({ decision: "DENY", reason, ...changes });
    const violations = [
      denied("MFA_REQUIRED"),
      denied("CONDITION_FALSE", { customer_policy_set: "strict@v2" }),
      denied("CLIENT_ADDRESS_NOT_ALLOWED", { user_id: "" }),
    ];
    const bySets = [
      ...["CONDITION_FALSE", "CONDITION_UNKNOWN", "GRAPHQL_DENIED"].map((reason) => denied(reason)),
      denied("NO_MATCHING_RULE", { rule: null }),
      // a rule denied another reading
      denied("AMBIGUOUS_PATH", {
        detail: "format_suffix: could be GET /api/customers/export: CONDITION_FALSE",
      }),
    ];
    violations.push(...bySets);
    const others = [
      decisionRecord({ customer_policy_set: "strict@v2" }),
      // nobody's, or not what a set says
      denied("CONDITION_FALSE", { user_id: "" }),
      denied("NO_MATCHING_RULE", { user_id: "" }),
      denied("CONDITION_FALSE", { policy_set: "" }),
      denied("SESSION_ENDED"),
      denied("AMBIGUOUS_PATH", { rule: null, detail: "dot_segment: `..`" }),
      denied("AMBIGUOUS_PATH", { detail: "similar_parameter: `Status`" }),
      denied("AMBIGUOUS_PATH", { user_id: "" }),
      denied("POLICY_NOT_READY"),
    ];
    await taken([...violations, ...others]);
    await taken([...violations, ...others]);
    const events = await database.db("events").select<
      {
        type: string;
        customer_id: string;
        user_id: string | null;
        data: { reason: string; decision_id: string; detail: string; user?: object };
      }[]
    >();
    assert.deepEqual(
      new Set(events.map(({ type, data }) => `${type} ${data.reason} ${data.decision_id}`)),
      new Set(violations.map(({ reason, decision_id: id }) => `policy.violated ${String(reason)} ${id}`)),
    );
    assert.equal(events.length, violations.length);
    for (const { decision_id: id, policy_set: set } of bySets)
      assert.equal(
        events.find(({ data }) => data.decision_id === id)?.data.detail,
        `denied by the policy set ${String(set)}`,
      );
    const [byMfa] = events.filter(({ data }) => data.reason === "MFA_REQUIRED");
    assert.deepEqual([byMfa?.customer_id, byMfa?.user_id], ["cus_1", "usr_1"]);
    assert.deepEqual(byMfa?.data.user, { id: "usr_1", customer_id: "cus_1" });
    const counts = await database.db("rollup_events").where({ granularity: "day" }).sum({ events: "events" });
    assert.deepEqual(counts, [{ events: String(violations.length) }]);
  });

  it("takes all of a batch or nothing", async () => {
    const failing = await startControl({
      database,
      clock: () => NOW,
      routes: recordsRoutes,
      writers: { events: () => Promise.reject(new Error("no events today")) },
    });
    try {
      const batch = [decisionRecord(), decisionRecord({ decision: "DENY", reason: "MFA_REQUIRED" })];
      assert.equal((await send(batch, failing)).status, 500);
      assert.equal((await stored()).length, 0);
      assert.equal((await taken(batch)).accepted, 2);
      await assertRollupsExact(database.db);
    } finally {
      await failing.close();
    }
  });

  it("stays exact when several instances are sent the same records at once", async () => {
    const second = await startControl({ database, clock: () => NOW, routes: recordsRoutes });
    try {
      const all = Array.from({ length: 300 }, (_, index) =>
        decisionRecord({
          timestamp: new Date(NOW - (index % 7) * 25_000).toISOString(),
          customer_id: `cus_${index % 5}`,
          user_id: `usr_${index % 11}`,
          ...(index % 3 === 0 && { decision: "DENY", reason: "CONDITION_FALSE" }),
        }),
      );
      const batches = Array.from({ length: 16 }, (_, batch) => {
        const some = all.filter((_record, index) => (index + batch) % 3 !== 0);
        return batch % 2 === 0 ? some : some.reverse();
      });
      const answers = await Promise.all(
        batches.map((batch, index) => taken(batch, index % 2 ? second : control)),
      );
      assert.equal(
        answers.reduce((sum, { accepted }) => sum + accepted, 0),
        300,
      );
      assert.equal((await stored()).length, 300);
      await assertRollupsExact(database.db);
    } finally {
      await second.close();
    }
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

  describe("statistics", () => {
    const told = {
      instance: "gw-1/worker-0",
      sequence: 1,
      from: "2026-03-01T12:00:00Z",
      to: "2026-03-01T12:00:10Z",
      caches: [{ name: "decisions", hits: 90, misses: 10, evictions: 1 }],
      audit: { decided: 100, recorded: 99, dropped: 1 },
    };
    const tell = (body: object) => control.request("POST", "/gateway/statistics", { body, as: GATEWAY_KEY });

    it("are counted once for each sequence of an instance", async () => {
      assert.deepEqual((await tell(told)).body.data, { accepted: true });
      assert.deepEqual((await tell(told)).body.data, { accepted: false });
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

    it("never count into the future", async () => {
      await tell({ ...told, to: "2031-01-01T00:00:00Z" });
      const [row] = (await database.db("rollup_audit").where({ granularity: "minute" })) as { start: Date }[];
      assert.deepEqual(row?.start, new Date(NOW));
    });

    it("are refused with the path of what is wrong", async () => {
      const answer = await tell({ ...told, caches: [{ ...told.caches[0], hits: -1 }], sequence: 1.5 });
      assert.equal(answer.status, 422);
      const paths = (answer.body.error.details.fields as { path: string }[]).map(({ path }) => path);
      assert.deepEqual(paths.sort(), ["caches.0.hits", "sequence"]);
    });
  });
});
