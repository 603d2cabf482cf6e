import type { Knex } from "knex";
import { ENDINGS_OF_SESSION } from "../../platform/open-sessions.ts";
import type { EndReason } from "./end.ts";
import type { SessionRow } from "./store.ts";

/**
 * The end of all sessions that a customer had at one moment, as far as their rows do not say so yet (decision 0097). From that
 * moment on they count as ended: whoever reads sessions adds what is in {@link sessionColumns}.
 */
export interface EndingRow {
  readonly id: number;
  readonly customer_id: string;
  readonly before_seq: number;
  readonly reason: EndReason;
  readonly requested_at: Date;
  readonly position: readonly [at: string, id: string] | null;
  readonly ended: number;
  readonly failures: number;
}

/** A row as it is stored, and the ending that it is among. */
export interface StoredSession extends SessionRow {
  readonly ending: { readonly at: string; readonly reason: EndReason } | null;
}

/** The columns of a {@link StoredSession}; `sessions` must not have another name. */
export function sessionColumns(db: Knex): (string | Knex.Raw)[] {
  const ending = `(select jsonb_build_object('at', e.requested_at, 'reason', e.reason) ${ENDINGS_OF_SESSION}
    order by e.id limit 1) as ending`;
  return ["sessions.*", db.raw(ending)];
}

/** A session as it is: ended, if it is among those that are to end. */
export function currentSession({ ending, ...row }: StoredSession): SessionRow {
  if (ending === null || row.ended_at !== null) return row;
  return { ...row, ended_at: new Date(ending.at), end_reason: ending.reason };
}

/**
 * Has all sessions end that a customer has now. The customer is locked: sign-ins hold it in share mode while they open a session,
 * so that one has either a lower number, or sees the customer's new status.
 *
 * @param ended - how many have ended already
 */
export async function requestEnding(
  trx: Knex.Transaction,
  {
    customer_id,
    reason,
    requested_at,
    ended,
  }: Pick<EndingRow, "customer_id" | "reason" | "requested_at" | "ended">,
): Promise<void> {
  await trx("session_endings").insert({
    ...{ customer_id, reason, requested_at, ended },
    // until the sequence is brought forward on another server, it may be behind the sessions that are there (`numbers.ts`)
    before_seq: trx.raw(
      "greatest(nextval('sessions_seq'), (select coalesce(max(seq), 0) + 1 from sessions))",
    ),
  });
}

/** Whether sessions of the customer are still to end. */
export async function hasEnding(trx: Knex.Transaction, customerId: string): Promise<boolean> {
  const row: unknown = await trx("session_endings").where({ customer_id: customerId }).first("id");
  return row !== undefined;
}
