import type { Knex } from "knex";

/**
 * The maximum clock tolerance of a gateway: how long after its `exp` a token may still be accepted. No instance's clock
 * is assumed to be further behind another's either.
 */
export const TOLERANCE_MS = 300_000;

/** @returns when a session must have expired for no gateway to accept its tokens any more */
export function longExpired(now: Date): Date {
  return new Date(now.getTime() - TOLERANCE_MS);
}

/**
 * SQL: the endings that a row of `sessions` is among (decision 0097): it counts as ended, although it does not say so yet. One that
 * had expired long before is not among them: see `endSessions`. The table must not have another name.
 */
export const ENDINGS_OF_SESSION = `from session_endings e where e.customer_id = sessions.customer_id
  and coalesce(sessions.seq, 0) < e.before_seq
  and sessions.alive_until > e.requested_at - interval '${TOLERANCE_MS} milliseconds'`;

/** SQL: whether sessions of the customer `c` are still to end. */
export const HAS_ENDING = "exists (select from session_endings e where e.customer_id = c.id)";

/** Leaves the sessions that have not ended and are not to. */
export function whereOpen(query: Knex.QueryBuilder): void {
  void query.whereNull("sessions.ended_at").whereRaw(`not exists (select ${ENDINGS_OF_SESSION})`);
}

/** Leaves the others. */
export function whereEnded(query: Knex.QueryBuilder): void {
  void query.where(
    (either) =>
      void either.whereNotNull("sessions.ended_at").orWhereRaw(`exists (select ${ENDINGS_OF_SESSION})`),
  );
}
