import type { Knex } from "knex";
import type { ControlSettings } from "../context.ts";
import { PERIOD_MS, type Granularity } from "./tally.ts";

const DAY_MS = PERIOD_MS.day;
/** How long counts are kept, by their granularity; never shorter than the records that they count. */
const KEPT_MS = { minute: 8 * DAY_MS, hour: 100 * DAY_MS, day: 731 * DAY_MS } as const;
const STATISTICS_KEPT_MS = 8 * DAY_MS;

const WITH_GRANULARITY = [
  "rollup_decisions",
  "rollup_resources",
  "rollup_latency",
  "rollup_customers",
  "rollup_events",
  "rollup_caches",
  "rollup_audit",
] as const;

/** The earliest time for which counts of a granularity are complete, Unix ms. */
export function countedSince(
  granularity: Granularity,
  now: number,
  retention: ControlSettings["retention"],
): number {
  const records = granularity === "minute" ? 0 : Math.max(retention.auditMs, retention.eventsMs) + DAY_MS;
  const since = now - Math.max(KEPT_MS[granularity], records);
  return Math.floor(since / DAY_MS) * DAY_MS;
}

/** Forgets counts that are over. */
export async function pruneRollups(
  db: Knex,
  now: number,
  retention: ControlSettings["retention"],
): Promise<void> {
  const since = (granularity: Granularity) => new Date(countedSince(granularity, now, retention));
  for (const table of WITH_GRANULARITY) {
    for (const granularity of ["minute", "hour", "day"] as const)
      await db(table).where({ granularity }).where("start", "<", since(granularity)).delete();
  }
  await db("rollup_customer_traffic").where("start", "<", since("hour")).delete();
  await db("rollup_user_days").where("day", "<", since("day").toISOString().slice(0, 10)).delete();
  await db("rollup_users").where("last_seen_at", "<", since("day")).delete();
  await db("gateway_statistics")
    .where("received_at", "<", new Date(now - STATISTICS_KEPT_MS))
    .delete();
}
