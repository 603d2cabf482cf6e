import type { Knex } from "knex";
import type { ControlSettings } from "../../platform/context.ts";
import { PERIOD_MS, type Granularity } from "./tally.ts";

const DAY_MS = PERIOD_MS.day;
/** Retention of counts by granularity; never shorter than that of the records. */
const KEPT_MS = { minute: 8 * DAY_MS, hour: 100 * DAY_MS, day: 731 * DAY_MS } as const;
/** The same for counts per customer. There are none per minute, because there would be too many. */
const OF_CUSTOMER_KEPT_MS = { minute: -DAY_MS, hour: 8 * DAY_MS, day: 100 * DAY_MS } as const;
const STATISTICS_KEPT_MS = 8 * DAY_MS;

const WITH_GRANULARITY = [
  "rollup_decisions",
  "rollup_resources",
  "rollup_latency",
  "rollup_customers",
  "rollup_events",
  "rollup_customer_events",
  "rollup_caches",
  "rollup_audit",
] as const;

/**
 * The earliest time for which counts of a granularity are complete, Unix ms. Daily counts are kept longer than records.
 *
 * @param ofCustomer - the decisions of a customer by reason and resource, rather than those of all
 */
export function countedSince(
  granularity: Granularity,
  now: number,
  retention: ControlSettings["retention"],
  ofCustomer = false,
): number {
  const kept = (ofCustomer ? OF_CUSTOMER_KEPT_MS : KEPT_MS)[granularity];
  const records = granularity === "day" ? Math.max(retention.auditMs, retention.eventsMs) + DAY_MS : kept;
  return Math.floor((now - Math.max(kept, records)) / DAY_MS) * DAY_MS;
}

/** Removes expired counts. */
export async function pruneRollups(
  db: Knex,
  now: number,
  retention: ControlSettings["retention"],
): Promise<void> {
  const before = (granularity: Granularity, ofCustomer = false) =>
    new Date(countedSince(granularity, now, retention, ofCustomer));
  for (const granularity of ["minute", "hour", "day"] as const) {
    for (const table of WITH_GRANULARITY)
      await db(table).where({ granularity }).where("start", "<", before(granularity)).delete();
    await db("rollup_customer_traffic")
      .where({ granularity })
      .where("start", "<", before(granularity, true))
      .delete();
  }
  await db("rollup_user_days").where("day", "<", before("day").toISOString().slice(0, 10)).delete();
  await db("rollup_users").where("last_seen_at", "<", before("day")).delete();
  await db("rollup_user_activity")
    .whereRaw("upper(days) <= ?::date", [before("day").toISOString().slice(0, 10)])
    .delete();
  for (const table of ["gateway_reports", "gateway_statistics"])
    await db(table)
      .where("received_at", "<", new Date(now - STATISTICS_KEPT_MS))
      .delete();
}
