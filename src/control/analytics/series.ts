import type { Knex } from "knex";
import type { TimeRange } from "./range.ts";
import type { Dashboard } from "./schemas.ts";
import { PERIOD_MS } from "./rollups/tally.ts";
import { eventCounts } from "./traffic.ts";

type Point = Dashboard["over_time"][number];

/** Requests and sign-ins per period of a range, including periods without any. */
export async function overTime(
  db: Knex,
  customer: string | undefined,
  { from, to, interval }: TimeRange,
): Promise<Point[]> {
  const period = PERIOD_MS[interval];
  const counts = new Map<number, { allowed: number; denied: number; signIns: number; failures: number }>();
  for (let start = from; start < to; start += period)
    counts.set(start, { allowed: 0, denied: 0, signIns: 0, failures: 0 });

  for (const { start, decision, requests } of await traffic(db, customer, { from, to, interval })) {
    const point = counts.get(start.getTime());
    if (point !== undefined) point[decision === "ALLOW" ? "allowed" : "denied"] += Number(requests);
  }
  for (const { start, type, events } of await signIns(db, customer, { from, to, interval })) {
    const point = counts.get(start.getTime());
    if (point !== undefined) point[type === "user.authenticated" ? "signIns" : "failures"] += Number(events);
  }
  return [...counts].map(([start, { allowed, denied, signIns: sign_ins, failures }]) => ({
    start: new Date(start).toISOString(),
    requests: allowed + denied,
    allowed,
    denied,
    sign_ins,
    failures,
  }));
}

async function traffic(
  db: Knex,
  customer: string | undefined,
  { from, to, interval }: TimeRange,
): Promise<{ start: Date; decision: "ALLOW" | "DENY"; requests: string }[]> {
  const rows =
    customer === undefined
      ? db("rollup_decisions")
      : db("rollup_customer_traffic").where({ customer_id: customer });
  return between(rows.where({ granularity: interval }), from, to)
    .groupBy("start", "decision")
    .select("start", "decision")
    .sum<{ start: Date; decision: "ALLOW" | "DENY"; requests: string }[]>({ requests: "requests" });
}

async function signIns(
  db: Knex,
  customer: string | undefined,
  { from, to, interval }: TimeRange,
): Promise<{ start: Date; type: string; events: string }[]> {
  const rows = eventCounts(db, customer)
    .where({ granularity: interval })
    .whereIn("type", ["user.authenticated", "user.authentication_failed"]);
  return between(rows, from, to)
    .groupBy("start", "type")
    .select("start", "type")
    .sum<{ start: Date; type: string; events: string }[]>({ events: "events" });
}

function between(query: Knex.QueryBuilder, from: number, to: number): Knex.QueryBuilder {
  return query.where("start", ">=", new Date(from)).where("start", "<", new Date(to));
}
