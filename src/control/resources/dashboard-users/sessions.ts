import type { Knex } from "knex";
import type { Role } from "../../platform/actor.ts";
import { newId } from "../../platform/ids.ts";
import { hashSecret, newSecret } from "../../platform/secret-box.ts";
import { IDLE_MS, SESSION_MS } from "./session-cookie.ts";
import { lockRowsUntilEnd, lockRowShared } from "../../../storage/index.ts";

/** A session as presented by a request. */
export interface PresentedSession {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly role: Role;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
}

/** The origin of a sign-in. */
export interface SignInPlace {
  readonly userId: string;
  readonly clientIp: string;
  readonly userAgent: string;
}

/** Starts a session with a new token. */
export async function beginSession(
  trx: Knex.Transaction,
  { userId, clientIp, userAgent }: SignInPlace,
  now: Date,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const id = newId("session");
  const token = newSecret();
  const expiresAt = new Date(now.getTime() + SESSION_MS);
  await trx("dashboard_sessions").insert({
    id,
    token_hash: hashSecret(token),
    user_id: userId,
    created_at: now,
    last_seen_at: now,
    expires_at: expiresAt,
    ip_address: clientIp,
    user_agent: userAgent,
  });
  return { id, token, expiresAt };
}

/** Finds sessions by the hashes of their tokens, with their users as they are now; includes expired sessions. */
export async function findPresentedSessions(
  db: Knex,
  hashes: readonly string[],
): Promise<Map<string, PresentedSession>> {
  const rows = await db("dashboard_sessions as s")
    .join("dashboard_users as u", "u.id", "s.user_id")
    .whereRaw("s.token_hash = any(?)", [[...hashes]])
    .select<(PresentedSession & { readonly token_hash: string })[]>(
      "s.token_hash",
      "s.id",
      "s.user_id",
      "u.name",
      "u.role",
      "s.last_seen_at",
      "s.expires_at",
    );
  return new Map(rows.map(({ token_hash: hash, ...session }) => [hash, session]));
}

/** Finds the open session of a token. */
export async function findPresentedSession(
  db: Knex,
  token: string,
  now: Date,
): Promise<PresentedSession | undefined> {
  const hash = hashSecret(token);
  const session = (await findPresentedSessions(db, [hash])).get(hash);
  return session !== undefined && isOpenSession(session, now) ? session : undefined;
}

/** Whether a session is open: neither its lifetime nor its idle timeout has passed. */
export function isOpenSession(
  { expires_at: expiresAt, last_seen_at: lastSeenAt }: PresentedSession,
  now: Date,
): boolean {
  return expiresAt > now && lastSeenAt.getTime() > now.getTime() - IDLE_MS;
}

/** Whether a session was not ended, and is not over. */
export async function isSignedIn(trx: Knex.Transaction, id: string, now: Date): Promise<boolean> {
  const row: unknown = await trx("dashboard_sessions")
    .where({ id })
    .where("expires_at", ">", now)
    .first("id");
  return row !== undefined;
}

/** Locks a session and its user's role against changes until the transaction ends. */
export async function lockSessionShared(
  trx: Knex.Transaction,
  { id: userId, sessionId: id }: { readonly id: string; readonly sessionId: string },
): Promise<void> {
  await lockRowShared(trx, "credentials", userId);
  // an instance of an earlier release ends sessions by the locks of the rows alone
  await trx.raw(
    `select from dashboard_sessions s join dashboard_users u on u.id = s.user_id where s.id = ? for share`,
    [id],
  );
}

/** Ends the sessions of a user who is locked: all, or all but one. */
export async function endSessionsOf(trx: Knex.Transaction, userId: string, except?: string): Promise<void> {
  const query = trx("dashboard_sessions").where({ user_id: userId });
  if (except !== undefined) void query.whereNot({ id: except });
  await query.delete();
}

export function endSessionByToken(trx: Knex.Transaction, token: string): Promise<void> {
  return endWhere(trx, { token_hash: hashSecret(token) });
}

export function endSession(trx: Knex.Transaction, id: string): Promise<void> {
  return endWhere(trx, { id });
}

async function endWhere(trx: Knex.Transaction, which: Readonly<Record<string, string>>): Promise<void> {
  const session = await trx("dashboard_sessions")
    .where(which)
    .first<{ user_id: string } | undefined>("user_id");
  if (session === undefined) return;
  await lockRowsUntilEnd(trx, "credentials", [session.user_id]);
  await trx("dashboard_sessions").where(which).delete();
}
