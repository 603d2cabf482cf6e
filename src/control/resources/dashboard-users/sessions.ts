import type { Knex } from "knex";
import type { Role } from "../../platform/actor.ts";
import { newId } from "../../platform/ids.ts";
import { hashSecret, newSecret } from "../../platform/secret-box.ts";
import { IDLE_MS, SESSION_MS } from "./session-cookie.ts";

/** A session as a request presents it. */
export interface PresentedSession {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly role: Role;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
}

/** Where somebody signs in from. */
export interface SignInPlace {
  readonly userId: string;
  readonly clientIp: string;
  readonly userAgent: string;
}

/** Begins a session with a token that nobody has seen before. */
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

/** Finds the session that goes on under a token, with the user as he is now. */
export function findPresentedSession(
  db: Knex,
  token: string,
  now: Date,
): Promise<PresentedSession | undefined> {
  return db("dashboard_sessions as s")
    .join("dashboard_users as u", "u.id", "s.user_id")
    .where("s.token_hash", hashSecret(token))
    .where("s.expires_at", ">", now)
    .where("s.last_seen_at", ">", new Date(now.getTime() - IDLE_MS))
    .first<PresentedSession | undefined>(
      "s.id",
      "s.user_id",
      "u.name",
      "u.role",
      "s.last_seen_at",
      "s.expires_at",
    );
}

/** Ends the sessions of a user: all, or all but one. */
export async function endSessionsOf(trx: Knex.Transaction, userId: string, except?: string): Promise<void> {
  const query = trx("dashboard_sessions").where({ user_id: userId });
  if (except !== undefined) void query.whereNot({ id: except });
  await query.delete();
}

export async function endSessionByToken(trx: Knex.Transaction, token: string): Promise<void> {
  await trx("dashboard_sessions")
    .where({ token_hash: hashSecret(token) })
    .delete();
}

export async function endSession(trx: Knex.Transaction, id: string): Promise<void> {
  await trx("dashboard_sessions").where({ id }).delete();
}
