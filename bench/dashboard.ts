import { rm } from "node:fs/promises";
import pg from "pg";
import { analyticsRoutes } from "../src/control/analytics/routes.ts";
import { countDecisions } from "../src/control/analytics/rollups/count-decisions.ts";
import { auditRoutes } from "../src/control/analytics/audit/routes.ts";
import { writeEvents } from "../src/control/analytics/write-events.ts";
import { customerRoutes } from "../src/control/resources/customers/routes.ts";
import { fleetRoutes } from "../src/control/resources/gateways/routes.ts";
import { policyRoutes } from "../src/control/resources/policies/routes.ts";
import { rolloutRoutes } from "../src/control/resources/policy-sets/rollout-routes.ts";
import { policySetRoutes } from "../src/control/resources/policy-sets/routes.ts";
import { sessionRoutes } from "../src/control/resources/sessions/routes.ts";
import { userRoutes } from "../src/control/resources/users/routes.ts";
import { webhookRoutes } from "../src/control/resources/webhooks/routes.ts";
import type { EventType } from "../src/control/platform/events.ts";
import { makePartition } from "../src/control/analytics/records/partitions.ts";
import { createUnits } from "../src/control/platform/unit.ts";
import { closeDatabase, migrate, openDatabase, type Database } from "../src/storage/index.ts";
import { startControl, type RunningControl } from "../test/support/control.ts";
import { privatePostgres } from "../test/support/database.ts";
import { fillResources, resourceRequests } from "./dashboard-resources.ts";
import { copyLine, copyRows } from "./copy.ts";
import { COLUMNS, decisionsOf, valuesOf, type BenchDecision } from "./decisions.ts";
import { effort } from "./effort.ts";
import { percentile } from "./statistics.ts";

interface Row {
  readonly request: string;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly bytes: number;
}

const DECISIONS = 10_000_000;
const EVENTS = 200_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const CHUNK = 50_000;
const TRAFFIC = { customers: 1000, users: 50_000, resources: 50 };
const CALLS = 50;

/** Response times over HTTP of what the dashboard reads, with ten million decisions in thirty days and a million customers. */
export async function benchmarkDashboard(): Promise<Row[]> {
  const postgres = await privatePostgres();
  const db = openDatabase(postgres.url, { poolSize: 10, statementTimeoutMs: 0 });
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await migrate(db);
    await client.connect();
    const now = Date.now();
    const some = await fill(db, client, now);
    const resources = await fillResources(db);
    const database = { url: postgres.url, db, close: () => Promise.resolve() };
    const control = await startControl({
      database,
      clock: () => now,
      routes: (context, { compile }) => [
        ...analyticsRoutes(context),
        ...auditRoutes(context),
        ...customerRoutes(context),
        ...userRoutes(context),
        ...sessionRoutes(context),
        ...policyRoutes(context),
        ...policySetRoutes(context, compile),
        ...rolloutRoutes(context),
        ...fleetRoutes(context),
        ...webhookRoutes(context),
      ],
    });
    try {
      await emitEvents(control, now);
      await db.raw("vacuum analyze");
      const rows: Row[] = [];
      for (const [request, path] of [...requests(now, some), ...resourceRequests(resources)])
        rows.push(await measure(control, request, path));
      return rows;
    } finally {
      await control.close();
    }
  } finally {
    await client.end();
    await closeDatabase(db);
    await postgres.close();
    await rm(postgres.dataDirectory, { recursive: true });
  }
}

/** Records by COPY, and their counts by the code that takes records in. @returns one of the decisions */
async function fill(db: Database, client: pg.Client, now: number): Promise<BenchDecision> {
  for (let day = 0; day <= DAYS; day++) await makePartition(db, "audit_records", now - day * DAY_MS);
  const next = decisionsOf(TRAFFIC);
  const total = effort(DECISIONS);
  const start = now - DAYS * DAY_MS;
  let some: BenchDecision | undefined;
  for (let done = 0; done < total; done += CHUNK) {
    const chunk = Array.from({ length: CHUNK }, (_, index) =>
      next(Math.floor(start + ((done + index) / total) * DAYS * DAY_MS)),
    );
    some ??= chunk[0];
    const text = chunk.map((decision) => copyLine(valuesOf(decision))).join("");
    const counted = chunk.map((decision) => ({
      timestamp: decision.timestamp,
      customer_id: decision.customer,
      user_id: decision.user,
      decision: decision.denied ? ("DENY" as const) : ("ALLOW" as const),
      reason: decision.denied ? "CONDITION_FALSE" : "CONDITION_TRUE",
      guarded: decision.guarded,
      evaluation_time_us: decision.microseconds,
    }));
    await Promise.all([
      copyRows(client, "audit_records", COLUMNS, text),
      db.transaction((trx) => countDecisions(trx, counted)),
    ]);
  }
  if (some === undefined) throw new Error("there are no decisions");
  return some;
}

async function emitEvents(control: RunningControl, now: number): Promise<void> {
  const nothing = () => Promise.resolve();
  let time = now;
  const past = createUnits(
    control.database.db,
    { events: writeEvents, changes: nothing, deliveries: nothing, gateways: nothing },
    () => time,
  );
  const next = decisionsOf(TRAFFIC);
  const total = effort(EVENTS);
  const actor = { kind: "system", id: "bench", name: "bench" } as const;
  const batch = 500;
  for (let done = 0; done < total; done += batch) {
    time = now - DAYS * DAY_MS * (1 - done / total);
    await past({ actor, requestId: "", clientIp: "" }, (unit) => {
      for (let index = 0; index < batch; index++) {
        const { customer, user, denied } = next(time);
        const type: EventType = denied ? "user.authentication_failed" : "user.authenticated";
        unit.emit({ type, customerId: customer, userId: user, data: {} });
      }
      return Promise.resolve();
    });
  }
}

function requests(now: number, { customer, user, id }: BenchDecision): [string, string][] {
  const ago = (days: number) => new Date(now - days * DAY_MS).toISOString();
  return [
    ["dashboard of the last day", "/analytics/dashboard"],
    ["dashboard of the last hour, by the minute", `/analytics/dashboard?from=${ago(1 / 24)}`],
    ["dashboard of 7 days, by the hour", `/analytics/dashboard?from=${ago(7)}`],
    ["dashboard of all 30 days, by the day", `/analytics/dashboard?from=${ago(DAYS)}`],
    ["the same by the hour", `/analytics/dashboard?from=${ago(DAYS)}&interval=hour`],
    ["dashboard of 10 days that are over", `/analytics/dashboard?from=${ago(20)}&to=${ago(10)}`],
    ["dashboard of one customer, 30 days", `/analytics/dashboard?from=${ago(DAYS)}&customer_id=${customer}`],
    ["users, last seen first", "/analytics/users"],
    ["users, most requests first, page 50", "/analytics/users?sort=requests&page=50&limit=100"],
    ["events", "/analytics/events"],
    [
      "events of authentication of one customer",
      `/analytics/events?type=authentication&customer_id=${customer}`,
    ],
    ["audit trail", "/audit/logs"],
    ["audit trail, page 100 of 100", "/audit/logs?page=100&limit=100"],
    ["audit trail: denials", "/audit/logs?decision=DENY"],
    ["audit trail: one customer", `/audit/logs?customer_id=${customer}`],
    ["audit trail: one user", `/audit/logs?user_id=${user}`],
    ["audit trail: one decision", `/audit/logs?decision_id=${id}`],
    ["audit trail: one request", `/audit/logs?request_id=req-${id.slice(4)}`],
    ["audit trail: a day that is over", `/audit/logs?from=${ago(12)}&to=${ago(11)}`],
    ["audit trail: a resource, one day", `/audit/logs?resource=/api/things/7/*&from=${ago(1)}`],
  ];
}

async function measure(control: RunningControl, request: string, path: string): Promise<Row> {
  const times: number[] = [];
  let bytes = 0;
  for (let call = 0; call < 5 + effort(CALLS); call++) {
    const started = performance.now();
    const answer = await control.request("GET", path);
    const took = performance.now() - started;
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    bytes = answer.text.length;
    // the first ones warm up
    if (call >= 5) times.push(took);
  }
  return {
    request,
    p50_ms: rounded(percentile(times, 0.5)),
    p95_ms: rounded(percentile(times, 0.95)),
    bytes,
  };
}

function rounded(ms: number): number {
  return Number(ms.toPrecision(3));
}
