import type { Knex } from "knex";
import { IDLE_MS } from "./session-cookie.ts";

/** Counts of failures that are kept at most: a day's worth of them from very many addresses. */
const MAX_THROTTLES = 100_000;

/**
 * Removes expired sessions, links, devices and attempt counters.
 *
 * @param maxThrottles - counts beyond this many are removed, those with the fewest failures first: a flood from many
 *   addresses must not push out the count that it is about
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
  // of versions that still count there
  await db("dashboard_attempts").where("forget_at", "<=", now).delete();
  await db.raw(
    `delete from dashboard_throttles where (kind, subject_hash) in (
       select kind, subject_hash from dashboard_throttles
       order by failures desc, forget_at desc, kind, subject_hash offset ?
     )`,
    [maxThrottles],
  );
}
