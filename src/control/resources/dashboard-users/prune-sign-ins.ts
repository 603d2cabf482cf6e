import type { Knex } from "knex";
import { IDLE_MS } from "./session-cookie.ts";

/** Maximum number of failure counters that are kept: a day's worth of failures from very many addresses. */
const MAX_THROTTLES = 100_000;

/**
 * Removes expired sessions, links, devices and failure counters.
 *
 * @param maxThrottles - counters beyond this number are removed, those with the fewest failures first: a flood from
 *   many addresses must not evict the counter that matters
 */
export async function forgetExpiredSignIns(
  db: Knex,
  now: Date,
  maxThrottles: number = MAX_THROTTLES,
): Promise<void> {
  await db("dashboard_sessions")
    .where("expires_at", "<=", now)
    .orWhere("last_seen_at", "<=", new Date(now.getTime() - IDLE_MS))
    .delete();
  await db("dashboard_links").where("expires_at", "<=", now).delete();
  await db("dashboard_devices").where("expires_at", "<=", now).delete();
  await db("dashboard_throttles").where("forget_at", "<=", now).delete();
  // from versions that still count there
  await db("dashboard_attempts").where("forget_at", "<=", now).delete();
  await db.raw(
    `delete from dashboard_throttles where (kind, subject_hash) in (
       select kind, subject_hash from dashboard_throttles
       order by failures desc, forget_at desc, kind, subject_hash offset ?
     )`,
    [maxThrottles],
  );
}
