import type { Knex } from "knex";
import type { EventData } from "../../platform/events.ts";
import { longExpired, TOLERANCE_MS, whereOpen } from "../../platform/open-sessions.ts";
import type { NewChange, UnitOfWork } from "../../platform/unit.ts";
import { hasEnding, requestEnding } from "./endings.ts";
import { statusOf, type SessionRow } from "./store.ts";

/** Why a session ended. */
export const END_REASONS = [
  "logout",
  "revoked",
  "user_suspended",
  "user_deleted",
  "customer_suspended",
  "customer_archived",
  "customer_deleted",
  "refresh_reuse",
  "code_reuse",
  "session_too_old",
  "session_limit",
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** Selects sessions. All given conditions must match, and at least one must be given. */
export interface SessionsOf {
  readonly sessionId?: string;
  readonly userId?: string;
  readonly customerId?: string;
}

/** The user is being erased: the announcement of the session's end contains only ids. */
const OF_ERASED: ReadonlySet<EndReason> = new Set(["user_deleted", "customer_deleted"]);

interface EndedRow {
  readonly id: string;
  readonly customer_id: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly ip_address: string;
  readonly user_agent: string;
  readonly last_token_expires_at: Date | null;
  /** Its user or customer; the erasure may be over already. */
  readonly is_deleted: boolean;
}

/**
 * Ends open sessions, within the unit of work that causes it: their tokens can no longer be refreshed, gateways refuse
 * tokens that are still valid, and an event announces each session. The caller records the change.
 *
 * A session that has expired by this instance's clock may go on by another's. So one that is named is ended even if it
 * has expired, and so are those of a user or customer that have just expired; their older ones are left alone, because
 * there may be many, which expired long ago for everybody.
 *
 * A caller that ends the sessions of a user must have locked that row: sign-in and refresh hold it in share mode while they make
 * tokens, so that either they see the new status, or the session that they made is ended here. A user has a limited number of
 * sessions (`limit.ts`). A customer may have any number of them: see {@link endSessionsOfCustomer}.
 *
 * @returns the number of sessions ended, not counting those that had already ended
 */
export async function endSessions(unit: UnitOfWork, where: SessionsOf, reason: EndReason): Promise<number> {
  const ids = await lockOpen(unit.trx, where, unit.now);
  await endLocked(unit, ids, { reason, at: unit.now });
  return ids.length;
}

/** Sessions that end in one transaction with what ends them: the suspension of a customer, or a sign-in. */
export const AT_ONCE = 200;

/**
 * Ends the sessions of a customer whose row is locked and that is no longer active. The transaction holds what others wait for, so
 * the sessions that do not end in it count as ended from its commit on, and end afterwards, in transactions of their own
 * (`run-endings.ts`).
 */
export async function endSessionsOfCustomer(
  unit: UnitOfWork,
  customerId: string,
  reason: EndReason,
): Promise<void> {
  const { trx, now } = unit;
  const request = { customer_id: customerId, reason, requested_at: now };
  // among former sessions that are still to end, it would have to look for those that were opened since
  if (await hasEnding(trx, customerId)) {
    await requestEnding(trx, { ...request, ended: 0 });
    return;
  }
  // in the order of the index of open sessions, so that the history of the customer is not read
  const found = await trx("sessions")
    .whereNull("ended_at")
    .where("customer_id", customerId)
    .where("alive_until", ">", longExpired(now))
    .orderBy(["alive_until", "id"])
    .limit(AT_ONCE)
    .pluck<string[]>("id");
  const ids = await lockUnended(trx, found);
  await endLocked(unit, ids, { reason, at: now });
  if (found.length === AT_ONCE) await requestEnding(trx, { ...request, ended: ids.length });
}

/** Locks those of the sessions that have not ended, in one order, so that two that end overlapping sets do not deadlock. */
export function lockUnended(trx: Knex.Transaction, ids: readonly string[]): Promise<string[]> {
  return trx("sessions")
    .whereRaw("id = any(?)", [[...ids]])
    .whereNull("ended_at")
    .orderBy("id")
    .forUpdate()
    .pluck<string[]>("id");
}

/** Ends and announces sessions whose rows are locked, and have not ended. */
export async function endLocked(
  unit: UnitOfWork,
  ids: readonly string[],
  { reason, at }: { readonly reason: EndReason; readonly at: Date },
): Promise<void> {
  if (ids.length === 0) return;
  const { trx } = unit;
  await trx("sessions")
    .whereRaw("id = any(?)", [[...ids]])
    .update({ ended_at: at, end_reason: reason });
  const ended = await trx("sessions as s")
    .join("users as u", "u.id", "s.user_id")
    .join("customers as c", "c.id", "s.customer_id")
    .whereRaw("s.id = any(?)", [[...ids]])
    .orderBy("s.id")
    .select<EndedRow[]>(
      ...["s.id", "s.customer_id", "s.user_id", "u.email", "s.ip_address", "s.user_agent"],
      "s.last_token_expires_at",
      trx.raw("coalesce(u.deleted_at, c.deleted_at) is not null as is_deleted"),
    );
  for (const row of ended) announce(unit, row, reason);
}

type SessionOfUser = Pick<EndedRow, "id" | "customer_id" | "user_id">;

/** Ends one session, even if it has expired, and records that; one that was already ended stays as it is. */
export async function revokeSession(
  unit: UnitOfWork,
  session: SessionOfUser & Pick<SessionRow, "ended_at" | "alive_until">,
  reason: EndReason = "revoked",
): Promise<void> {
  const { id, user_id } = session;
  const ended = await endSessions(unit, { sessionId: id }, reason);
  if (ended === 0) return;
  unit.record({
    action: "session.revoked",
    ...aboutSession(session),
    before: { user_id, status: statusOf(session, unit.now) },
    after: { user_id, status: "ended", ...(reason !== "revoked" && { reason }) },
  });
}

/** What a change of a session says of it: whose it is, because the audit trail is kept for longer than the session may be. */
export function aboutSession({
  id,
  customer_id: customerId,
  user_id: userId,
}: SessionOfUser): Pick<NewChange, "target"> & { readonly customerId: string; readonly userId: string } {
  return { target: { type: "session", id }, customerId, userId };
}

/** In one order, so that two that end overlapping sets wait for each other rather than deadlock. */
function lockOpen(
  trx: Knex.Transaction,
  { sessionId, userId, customerId }: SessionsOf,
  now: Date,
): Promise<string[]> {
  const query = trx("sessions").modify(whereOpen);
  if (sessionId !== undefined) void query.where("id", sessionId);
  else void query.where("alive_until", ">", longExpired(now));
  if (userId !== undefined) void query.where("user_id", userId);
  if (customerId !== undefined) void query.where("customer_id", customerId);
  if (sessionId === undefined && userId === undefined && customerId === undefined)
    throw new Error("ending sessions requires at least one selector");
  return query.orderBy("id").forUpdate().pluck<string[]>("id");
}

function announce(unit: UnitOfWork, row: EndedRow, reason: EndReason): void {
  const isErased = row.is_deleted || OF_ERASED.has(reason);
  const data: EventData = {
    user: {
      id: row.user_id,
      ...(row.email !== null && !isErased && { email: row.email }),
      customer_id: row.customer_id,
    },
    session: {
      id: row.id,
      ip_address: isErased ? "" : row.ip_address,
      user_agent: isErased ? "" : row.user_agent,
    },
    reason,
  };
  unit.emit({
    type: reason === "logout" ? "user.logged_out" : "session.revoked",
    customerId: row.customer_id,
    userId: row.user_id,
    data,
  });
  refuseTokens(unit, row);
}

/** Tells gateways to refuse the unexpired tokens of a session. */
export function refuseTokens(
  unit: UnitOfWork,
  { id, last_token_expires_at: last }: Pick<EndedRow, "id" | "last_token_expires_at">,
): void {
  if (last === null) return;
  const until = new Date(last.getTime() + TOLERANCE_MS);
  // after that, no gateway accepts its tokens anyway
  if (until > unit.now)
    unit.notifyGateways({ type: "session_ended", session_id: id, until: until.toISOString() });
}
