import assert from "node:assert/strict";
import { newId } from "../../../../src/control/platform/ids.ts";
import { recordsRoutes } from "../../../../src/control/analytics/records/routes.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";
import {
  assertRollupsExact,
  decisionRecord,
  GATEWAY_KEY,
  outcomeRecord,
  sendRecords,
  storedRecords,
  takenRecords,
} from "../../support/gateway-records.ts";

const NOW = Date.parse("2026-03-01T12:30:00Z");

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

  const send = (records: readonly unknown[], to = control) => sendRecords(to, records);
  const taken = (records: readonly unknown[], to = control) => takenRecords(to, records);
  const stored = () => storedRecords(database.db);

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

  it("stores differences in shadow and changes of rollouts, and counts neither as decisions", async () => {
    const shadow = {
      ...{ timestamp: new Date(NOW).toISOString(), event: "shadow_decision", request_id: "req-1" },
      ...{ user_id: "u-1", customer_id: "cus_1", resource: "/orders", action: "GET", difference: "denies" },
      ...{ policy_set: "main@v1", policy_digest: "d1", decision: "ALLOW", reason: "CONDITION_TRUE" },
      ...{ rule: "policies[0]", candidate_policy_set: "main@v2", candidate_digest: "d2" },
      ...{ candidate_decision: "DENY", candidate_reason: "CONDITION_FALSE", candidate_rule: "policies[1]" },
    };
    const rollout = {
      ...{ timestamp: new Date(NOW).toISOString(), event: "rollout", decision_id: "dec_1", mode: "enforce" },
      ...{
        change: "started",
        rollout_id: "rol_1",
        policy_set: "main@v2",
        policy_digest: "d2",
        percentage: 5,
      },
    };
    assert.deepEqual(await taken([shadow, rollout]), { accepted: 2, duplicates: 0, rejected: [] });
    assert.deepEqual(await taken([shadow, rollout]), { accepted: 0, duplicates: 2, rejected: [] });
    const rows = await stored();
    const found = (kind: string) => rows.find((row) => row.kind === kind);
    const { timestamp: _, event: __, ...members } = shadow;
    const kept: Readonly<Record<string, unknown>> = { ...found("shadow") };
    for (const [name, value] of Object.entries(members)) {
      const inColumn = ["request_id", "user_id", "customer_id", "resource", "action", "policy_set", "rule"];
      const from = inColumn.includes(name) ? kept : (kept["record"] as Record<string, unknown>);
      assert.equal(from[name], value, name);
    }
    assert.deepEqual([kept["decision"], kept["reason"]], [null, null], "no verdict was given");
    assert.equal(found("rollout")?.record["rollout_id"], "rol_1");
    await assertRollupsExact(database.db);
    for (const wrong of [
      { ...shadow, difference: "other" },
      { ...shadow, candidate_decision: "MAYBE" },
      { ...shadow, resource: 7 },
      { ...rollout, change: 7 },
      { ...rollout, decision_id: "" },
      { ...rollout, event: "something" },
    ])
      assert.match(JSON.stringify(await taken([wrong])), /"INVALID_RECORD"/, JSON.stringify(wrong));
  });

  it("keeps every member, those that are not known too", async () => {
    const record = decisionRecord({ trace: { steps: [1, { a: null }] } }, { something_new: "x", __proto: 1 });
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

  it("keeps which key and gateway sent a record, whatever the record itself says", async () => {
    const claimed = { ingested_by: "key_other", gateway: "other", received_at: "2020-01-01T00:00:00Z" };
    const send = (record: object, headers: Record<string, string>, id = GATEWAY_KEY.id) =>
      control.request("POST", "/gateway/records", {
        body: { records: [record] },
        as: { ...GATEWAY_KEY, id },
        headers,
      });
    const record = decisionRecord({}, claimed);
    assert.equal((await send(record, { "x-gatehouse-gateway": "gw-1" })).status, 200);
    // whoever sends it again does not become its sender
    assert.equal(
      (await send(record, { "x-gatehouse-gateway": "gw-2" }, "key_second")).body.data.duplicates,
      1,
    );
    const [row] = await database.db("audit_records");
    assert.deepEqual(
      [
        row.ingested_by,
        row.gateway,
        row.received_at,
        Object.keys(row.record as object).filter((name) => name in claimed),
      ],
      [GATEWAY_KEY.id, "gw-1", new Date(NOW), []],
    );
    await send({ ...outcomeRecord(), ...claimed }, {});
    const [outcome] = await database.db("audit_records").where({ kind: "response" });
    assert.deepEqual([outcome.ingested_by, outcome.gateway], [GATEWAY_KEY.id, null]);
    for (const name of ["", "a b", "g".repeat(129)])
      assert.equal((await send(decisionRecord(), { "x-gatehouse-gateway": name })).status, 400, name);
  });

  it("attributes nothing to a user of another customer", async () => {
    const [mine, other] = [newId("customer"), newId("customer")];
    const user = newId("user");
    const now = new Date(NOW);
    const times = { created_at: now, updated_at: now };
    for (const id of [mine, other])
      await database.db("customers").insert({
        ...{ id, name: "n", name_key: "n", status: "active", allowed_return_urls: [], metadata: "{}" },
        ...times,
      });
    await database.db("users").insert({
      ...{ id: user, customer_id: mine, subject: "s", status: "active", profile: "{}", attributes: "{}" },
      ...times,
    });
    const denied = { user_id: user, decision: "DENY", reason: "CONDITION_FALSE" };
    await taken([
      decisionRecord({ ...denied, customer_id: mine }),
      decisionRecord({ ...denied, customer_id: other }),
    ]);
    const counted = await database.db("rollup_users").select("customer_id", "user_id", "requests");
    assert.deepEqual(counted, [{ customer_id: mine, user_id: user, requests: 1 }]);
    assert.deepEqual(await database.db("events").orderBy("user_id").select("customer_id", "user_id"), [
      { customer_id: mine, user_id: user },
      { customer_id: other, user_id: null },
    ]);
    // the trail shows what was said
    assert.equal((await stored()).length, 2);
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
      new Set(violations.map(({ reason, decision_id: id }) => `policy.violated ${reason} ${id}`)),
    );
    assert.equal(events.length, violations.length);
    for (const { decision_id: id, policy_set: set } of bySets)
      assert.equal(
        events.find(({ data }) => data.decision_id === id)?.data.detail,
        `denied by the policy set ${set}`,
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
});
