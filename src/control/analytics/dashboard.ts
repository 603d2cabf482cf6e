import type { Knex } from "knex";
import type { ControlSettings } from "../platform/context.ts";
import { percentileOf } from "./rollups/latency.ts";
import { countedSince } from "./rollups/prune-rollups.ts";
import { rangeOf, type TimeRange } from "./range.ts";
import type { Dashboard, DashboardQuery } from "./schemas.ts";
import { overTime } from "./series.ts";
import { isCounted, spansOf, within, type RollupSpan } from "./rollups/spans.ts";
import { dayOf } from "./rollups/count-decisions.ts";
import { PERIOD_MS } from "./rollups/tally.ts";
import { eventCounts, groups, ofCustomer, withOther } from "./traffic.ts";
import { whereOpen } from "../platform/open-sessions.ts";

const DAY_MS = PERIOD_MS.day;

/** All dashboard metrics, from one snapshot of the database. */
export async function readDashboard(
  db: Knex,
  query: Omit<DashboardQuery, "from" | "to"> & {
    readonly from?: Date | undefined;
    readonly to?: Date | undefined;
  },
  now: number,
  retention: ControlSettings["retention"],
): Promise<Dashboard> {
  const { customer_id: customer, interval, top } = query;
  const asked = { from: query.from?.getTime(), to: query.to?.getTime(), interval };
  const range = rangeOf(asked, customer !== undefined, now, retention);
  const spans = spansOf(
    range.from,
    range.to,
    (["day", "hour", "minute"] as const).map((name) => [
      name,
      countedSince(name, now, retention, customer !== undefined),
    ]),
  ).filter(isCounted);
  return db.transaction(
    async (trx) => {
      const reasons = await byReason(trx, customer, spans);
      const resources = await byResource(trx, customer, spans, top);
      const allowed = sum(reasons.filter(({ decision }) => decision === "ALLOW"));
      const total = sum(reasons);
      const events = await countEvents(trx, customer, spans);
      const totals = { requests: total, denied: total - allowed };
      return {
        from: new Date(range.from).toISOString(),
        to: new Date(range.to).toISOString(),
        interval: range.interval,
        customer_id: customer ?? null,
        requests: { total, allowed, denied: total - allowed },
        by_reason: reasons,
        by_resource: withOther(resources, totals),
        by_customer: customer === undefined ? withOther(await byCustomer(trx, spans, top), totals) : null,
        over_time: await overTime(trx, customer, range),
        sign_ins: {
          succeeded: events.get("user.authenticated") ?? 0,
          failed: events.get("user.authentication_failed") ?? 0,
          signed_out: events.get("user.logged_out") ?? 0,
        },
        policy_violations: events.get("policy.violated") ?? 0,
        users: await activeUsers(trx, customer, range, now),
        sessions: { active: await activeSessions(trx, customer, now) },
        latency: customer === undefined ? await latencyOf(trx, spans) : null,
        caches: customer === undefined ? await cachesOf(trx, spans) : null,
        audit: customer === undefined ? await auditOf(trx, spans) : null,
      };
    },
    { isolationLevel: "repeatable read", readOnly: true },
  );
}

async function byReason(
  trx: Knex,
  customer: string | undefined,
  spans: readonly RollupSpan[],
): Promise<Dashboard["by_reason"]> {
  const counts =
    customer === undefined
      ? within(trx("rollup_decisions"), spans)
      : within(trx("rollup_customer_traffic").where({ customer_id: customer }), spans);
  const rows = await counts
    .groupBy("decision", "reason")
    .orderBy([{ column: "requests", order: "desc" }, "reason", "decision"])
    .select("decision", "reason")
    .sum<{ decision: "ALLOW" | "DENY"; reason: string; requests: string }[]>({ requests: "requests" });
  return rows.map((row) => ({ ...row, requests: Number(row.requests) }));
}

async function byResource(
  trx: Knex,
  customer: string | undefined,
  spans: readonly RollupSpan[],
  top: number,
) {
  const counts: Knex.QueryBuilder =
    customer === undefined
      ? within(trx("rollup_resources"), spans).sum({ denied: "denied" })
      : within(trx("rollup_customer_traffic").where({ customer_id: customer }), spans).select(
          trx.raw("sum(requests) filter (where decision = 'DENY') as denied"),
        );
  const rows = await groups(counts.select({ name: "resource" }).sum({ requests: "requests" }), top);
  return rows.map(({ name, requests, denied }) => ({ resource: name, requests, denied }));
}

async function byCustomer(trx: Knex, spans: readonly RollupSpan[], top: number) {
  const rows = await groups(
    within(trx("rollup_customers"), spans)
      .select({ name: "customer_id" })
      .sum({ requests: "requests", denied: "denied" }),
    top,
  );
  return rows.map(({ name, requests, denied }) => ({ customer_id: name, requests, denied }));
}

async function countEvents(
  trx: Knex,
  customer: string | undefined,
  spans: readonly RollupSpan[],
): Promise<Map<string, number>> {
  const rows = await within(eventCounts(trx, customer), spans)
    .groupBy("type")
    .select("type")
    .sum<{ type: string; events: string }[]>({ events: "events" });
  return new Map(rows.map(({ type, events }) => [type, Number(events)]));
}

/** Users who made requests or signed in. A range in the past is counted by whole days. */
async function activeUsers(
  trx: Knex,
  customer: string | undefined,
  { from, to }: TimeRange,
  now: number,
): Promise<Dashboard["users"]> {
  const [seen] = await ofCustomer(trx("rollup_users"), customer).select<Dashboard["users"][]>(
    trx.raw(
      `count(*) filter (where last_seen_at >= :from) as active,
       count(*) filter (where last_seen_at >= :day) as last_day,
       count(*) filter (where last_seen_at >= :week) as last_week,
       count(*) filter (where last_seen_at >= :month) as last_month`,
      {
        from: new Date(from),
        day: new Date(now - DAY_MS),
        week: new Date(now - 7 * DAY_MS),
        month: new Date(now - 30 * DAY_MS),
      },
    ),
  );
  if (seen === undefined) throw new Error("an aggregate without a row");
  if (to > now) return seen;
  const [active] = await ofCustomer(trx("rollup_user_activity"), customer)
    .whereRaw("days && daterange(?::date, ?::date, '[]')", [dayOf(from), dayOf(to - 1)])
    .count<{ users: number }[]>({ users: "*" });
  return { ...seen, active: active?.users ?? 0 };
}

async function activeSessions(trx: Knex, customer: string | undefined, now: number): Promise<number> {
  const [row] = await ofCustomer(trx("sessions"), customer)
    .modify(whereOpen)
    .where("alive_until", ">", new Date(now))
    .count<{ sessions: number }[]>({ sessions: "*" });
  return row?.sessions ?? 0;
}

async function latencyOf(trx: Knex, spans: readonly RollupSpan[]): Promise<Dashboard["latency"]> {
  const rows = await within(trx("rollup_latency"), spans)
    .groupBy("bucket")
    .select("bucket")
    .sum<{ bucket: number; requests: string }[]>({ requests: "requests" });
  const buckets = rows.map(({ bucket, requests }) => [bucket, Number(requests)] as const);
  const ms = (share: number) => {
    const microseconds = percentileOf(buckets, share);
    return microseconds === undefined ? null : Number((microseconds / 1000).toPrecision(3));
  };
  return {
    measured: sum(buckets.map(([, requests]) => ({ requests }))),
    p50_ms: ms(0.5),
    p95_ms: ms(0.95),
    p99_ms: ms(0.99),
  };
}

async function cachesOf(trx: Knex, spans: readonly RollupSpan[]): Promise<Dashboard["caches"]> {
  const rows = (await within(trx("rollup_caches"), spans)
    .select({ name: "cache" })
    .sum({ hits: "hits", misses: "misses", evictions: "evictions" })
    .groupBy("cache")
    .orderBy("cache")) as { name: string; hits: string; misses: string; evictions: string }[];
  return rows.map(({ name, ...counted }) => {
    const [hits, misses, evictions] = [
      Number(counted.hits),
      Number(counted.misses),
      Number(counted.evictions),
    ];
    const asked = hits + misses;
    const eviction_rate = misses === 0 ? null : Math.min(1, evictions / misses);
    return { name, hits, misses, evictions, hit_rate: asked === 0 ? null : hits / asked, eviction_rate };
  });
}

async function auditOf(trx: Knex, spans: readonly RollupSpan[]): Promise<Dashboard["audit"]> {
  const [row] = await within(trx("rollup_audit"), spans).sum<
    Record<"decided" | "recorded" | "dropped", string | null>[]
  >({ decided: "decided", recorded: "recorded", dropped: "dropped" });
  const number = (name: "decided" | "recorded" | "dropped") => Number(row?.[name] ?? 0);
  return { decided: number("decided"), recorded: number("recorded"), dropped: number("dropped") };
}

function sum(rows: readonly { readonly requests: number }[]): number {
  return rows.reduce((total, { requests }) => total + requests, 0);
}
