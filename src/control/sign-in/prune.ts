import type { Knex } from "knex";
import type { ControlContext } from "../platform/context.ts";

const BATCH = 1_000;
/** An expired flow is no longer needed; its end is in the event history. */
const FLOWS_KEPT_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Removes what is long over: flows, and sessions with their codes and refresh tokens once events and audit records of that age are
 * removed, too. Changes that an earlier release recorded tell whose they are by the session alone.
 * It does so in small steps, each passing over what another instance is just removing.
 */
export async function pruneSignIns(
  { db, clock, settings }: ControlContext,
  signal?: AbortSignal,
): Promise<void> {
  const now = clock();
  await removeBefore(db, "sign_in_flows", "expires_at", new Date(now - FLOWS_KEPT_MS), signal);
  const { auditMs, eventsMs } = settings.retention;
  // records are kept for whole days
  const before = new Date(now - Math.max(auditMs, eventsMs) - DAY_MS);
  await removeBefore(db, "sessions", "alive_until", before, signal);
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
