import type { Knex } from "knex";
import type { ControlContext } from "../platform/context.ts";

const BATCH = 1_000;
/** An expired flow is no longer needed; its end is in the event history. */
const FLOWS_KEPT_MS = 3_600_000;

/**
 * Removes flows that expired long ago, and sessions with their codes and refresh tokens once events of that age are
 * removed. It works in small steps, each skipping rows that another instance is removing.
 */
export async function pruneSignIns(
  { db, clock, settings }: ControlContext,
  signal?: AbortSignal,
): Promise<void> {
  const now = clock();
  await removeBefore(db, "sign_in_flows", "expires_at", new Date(now - FLOWS_KEPT_MS), signal);
  await removeBefore(db, "sessions", "alive_until", new Date(now - settings.retention.eventsMs), signal);
}

async function removeBefore(
  db: Knex,
  table: string,
  column: string,
  time: Date,
  signal?: AbortSignal,
): Promise<void> {
  while (signal?.aborted !== true) {
    const over = db(table).select("id").where(column, "<", time).limit(BATCH).forUpdate().skipLocked();
    const removed = await db(table).whereIn("id", over).delete();
    if (removed < BATCH) return;
  }
}
