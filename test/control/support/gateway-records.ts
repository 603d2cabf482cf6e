import assert from "node:assert/strict";
import { createDecisionIds } from "../../../src/audit/index.ts";
import type { AuditRecord, OutcomeRecord } from "../../../src/protocol/record.ts";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { makePartition, startOfDay } from "../../../src/control/analytics/records/partitions.ts";
import { readRecord } from "../../../src/control/analytics/records/read-record.ts";
import { Intake } from "../../../src/control/analytics/records/ingest.ts";
import type { Database } from "../../../src/storage/index.ts";
import { FULL_KEY, type Answered, type RunningControl } from "../../support/control.ts";

export const GATEWAY_KEY: Actor = { ...FULL_KEY, id: "key_00000000000000000000000002", scope: "gateway" };

const nextId = createDecisionIds();

/**
 * A decision as a gateway writes it.
 *
 * @param changes - other values of its members, right or wrong
 * @param more - members that no gateway writes today
 */
export function decisionRecord(
  changes: Readonly<Partial<Record<keyof AuditRecord, unknown>>> = {},
  more: Readonly<Record<string, unknown>> = {},
): AuditRecord {
  const record: AuditRecord = {
    timestamp: "2026-03-01T12:00:00.000Z",
    request_id: "req-1",
    user_id: "usr_1",
    resource: "/api/customers/7",
    action: "GET",
    decision: "ALLOW",
    policy_set: "default@v1",
    evaluation_time_ms: 0,
    client_ip: "192.0.2.7",
    decision_id: nextId(),
    reason: "CONDITION_TRUE",
    rule: "policies[0]",
    rule_resource: "GET /api/customers/{customer_id}",
    policy_digest: "00".repeat(32),
    customer_id: "cus_1",
    host: "api.example.com",
    raw_path: "/api/customers/7",
    evaluation_time_us: 412,
  };
  return { ...record, ...(changes as Partial<AuditRecord>), ...more };
}

/** What became of a decision, as a gateway writes it. */
export function outcomeRecord(changes: Partial<OutcomeRecord> = {}): OutcomeRecord {
  return {
    timestamp: "2026-03-01T12:00:01.000Z",
    event: "response",
    decision_id: "dec_0",
    response_code: 200,
    duration_ms: 12,
    result: "masked",
    masked_count: 1,
    masked_paths: ["$.ssn"],
    response_bytes: 100,
    detail: "via_upstream",
    ...changes,
  };
}

/** Takes records in as if they had come when they were new, however long ago that was. */
export async function takeOldRecords({ context }: RunningControl, records: readonly object[]): Promise<void> {
  const read = records.map((record) => {
    const facts = readRecord(JSON.parse(JSON.stringify(record)));
    if (typeof facts === "string") throw new Error(facts);
    return facts;
  });
  for (const day of new Set(read.map(({ row }) => startOfDay(row.timestamp))))
    await makePartition(context.db, "audit_records", day);
  const origin = { actor: GATEWAY_KEY, requestId: "r", clientIp: "" };
  const from = { ingestedBy: GATEWAY_KEY.id, gateway: undefined };
  await context.units(origin, (unit) =>
    new Intake(context).take(unit, { receivedAt: unit.now, records: read, rejected: [] }, from),
  );
}

type Counted = Readonly<Record<string, number>>;

/** Sends records as a gateway does; all of them are good. */
export async function takeRecords(control: RunningControl, records: readonly object[]): Promise<void> {
  const answer = await sendRecords(control, records);
  assert.deepEqual([answer.status, answer.body.data?.rejected], [200, []], answer.text);
}

/** Sends what may be records, good or bad. */
export function sendRecords(control: RunningControl, records: readonly unknown[]): Promise<Answered> {
  return control.request("POST", "/gateway/records", { body: { records }, as: GATEWAY_KEY });
}

/** Sends a batch that is taken. @returns what became of its records */
export async function takenRecords(
  control: RunningControl,
  records: readonly unknown[],
): Promise<{ accepted: number; duplicates: number; rejected: object[] }> {
  const answer = await sendRecords(control, records);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data as { accepted: number; duplicates: number; rejected: object[] };
}

interface StoredRow {
  readonly id: string;
  readonly kind: string;
  readonly customer_id: string | null;
  readonly user_id: string;
  readonly resource: string;
  readonly record: Record<string, unknown>;
}

export async function storedRecords(db: Database): Promise<StoredRow[]> {
  return (await db("audit_records").orderBy("id").orderBy("kind")) as StoredRow[];
}

/** Compares every rollup with what the records themselves say. */
export async function assertRollupsExact(db: Database): Promise<void> {
  const rows = (await db("audit_records").where({ kind: "decision" })) as {
    timestamp: Date;
    customer_id: string | null;
    user_id: string;
    decision: string;
    reason: string;
    evaluation_time_us: number;
    record: Pick<AuditRecord, "rule_resource">;
  }[];
  const signIns = (await db("events").where({ type: "user.authenticated" })) as {
    timestamp: Date;
    customer_id: string | null;
    user_id: string;
  }[];
  const expected = {
    decisions: {} as Record<string, number>,
    resources: {} as Record<string, number>,
    customers: {} as Record<string, number>,
    ofCustomers: {} as Record<string, number>,
    users: {} as Record<string, number>,
    days: {} as Record<string, number>,
    activity: {} as Record<string, number>,
    latency: {} as Record<string, number>,
  };
  const add = (counts: Record<string, number>, key: readonly unknown[], by = 1) => {
    const name = JSON.stringify(key);
    counts[name] = (counts[name] ?? 0) + by;
  };
  for (const row of rows) {
    const iso = row.timestamp.toISOString();
    const day = iso.slice(0, 10);
    const starts = {
      minute: `${iso.slice(0, 16)}:00.000Z`,
      hour: `${iso.slice(0, 13)}:00:00.000Z`,
      day: `${day}T00:00:00.000Z`,
    };
    const denied = row.decision === "DENY" ? 1 : 0;
    const customer = row.customer_id ?? "";
    for (const [granularity, start] of Object.entries(starts)) {
      const resource = row.record.rule_resource ?? "";
      add(expected.decisions, [granularity, start, row.decision, row.reason]);
      add(expected.resources, [granularity, start, resource, "requests"]);
      if (denied) add(expected.resources, [granularity, start, resource, "denied"]);
      add(expected.customers, [granularity, start, customer, "requests"]);
      if (denied) add(expected.customers, [granularity, start, customer, "denied"]);
      add(expected.latency, [granularity, start]);
      if (granularity !== "minute" && customer !== "")
        add(expected.ofCustomers, [granularity, start, customer, row.decision, row.reason, resource]);
    }
    if (row.user_id === "") continue;
    expected.activity[JSON.stringify([day, customer, row.user_id])] = 1;
    for (const what of denied ? ["requests", "denied"] : ["requests"]) {
      add(expected.users, [customer, row.user_id, what]);
      add(expected.days, [day, customer, row.user_id, what]);
    }
  }
  // a day with a sign-in is a day on which the user did something, too
  for (const { timestamp, customer_id: customer, user_id: user } of signIns)
    expected.activity[JSON.stringify([timestamp.toISOString().slice(0, 10), customer ?? "", user])] = 1;
  const found: Record<keyof typeof expected, Counted> = {
    decisions: await counted(
      db("rollup_decisions").select("granularity", "start", "decision", "reason").groupByRaw("1, 2, 3, 4"),
    ),
    resources: await requestsAndDenied(db, "rollup_resources", "resource"),
    customers: await requestsAndDenied(db, "rollup_customers", "customer_id"),
    ofCustomers: await counted(
      db("rollup_customer_traffic")
        .select("granularity", "start", "customer_id", "decision", "reason", "resource")
        .groupByRaw("1, 2, 3, 4, 5, 6"),
    ),
    users: await ofUsers(db, "rollup_users", ["customer_id", "user_id"]),
    days: await ofUsers(db, "rollup_user_days", ["day", "customer_id", "user_id"]),
    activity: await activity(db),
    latency: await counted(db("rollup_latency").select("granularity", "start").groupByRaw("1, 2")),
  };
  for (const name of Object.keys(expected) as (keyof typeof expected)[])
    assert.deepEqual(sorted(found[name]), sorted(expected[name]), name);
}

async function requestsAndDenied(db: Database, table: string, key: string): Promise<Counted> {
  const rows = (what: string) =>
    db(table)
      .select("granularity", "start", key, db.raw("?::text as what", [what]))
      .groupByRaw("1, 2, 3");
  return { ...(await counted(rows("requests"))), ...(await counted(rows("denied"), "denied")) };
}

async function activity(db: Database): Promise<Counted> {
  const { rows } = await db.raw<{ rows: { day: string; customer_id: string; user_id: string }[] }>(
    `select day::date as day, customer_id, user_id
     from rollup_user_activity, unnest(days) as span, generate_series(lower(span), upper(span) - 1, interval '1 day') as day`,
  );
  return Object.fromEntries(
    rows.map(({ day, customer_id: customer, user_id: user }) => [JSON.stringify([day, customer, user]), 1]),
  );
}

async function ofUsers(db: Database, table: string, keys: readonly string[]): Promise<Counted> {
  const counts: Record<string, number> = {};
  for (const row of await db(table).select<Record<string, unknown>[]>()) {
    for (const what of ["requests", "denied"])
      if (row[what] !== 0) counts[JSON.stringify([...keys.map((key) => row[key]), what])] = Number(row[what]);
  }
  return counts;
}

async function counted(query: ReturnType<Database>, column = "requests"): Promise<Counted> {
  const rows = await query.sum<Record<string, unknown>[]>({ sum: column });
  return Object.fromEntries(
    rows
      .filter(({ sum }) => Number(sum) !== 0)
      .map(({ sum, ...key }) => [JSON.stringify(Object.values(key)), Number(sum)]),
  );
}

function sorted(counts: Counted): [string, number][] {
  return Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
}
