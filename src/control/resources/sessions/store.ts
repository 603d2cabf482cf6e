import type { Knex } from "knex";
import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import type { EndReason } from "./end.ts";
import { currentSession, sessionColumns, type StoredSession } from "./endings.ts";

/** A row of `sessions`: the result of one sign-in of a user. */
export interface SessionRow {
  readonly id: string;
  readonly customer_id: string;
  readonly user_id: string;
  /** The application that started the sign-in: the family of its key. */
  readonly client_id: string;
  /** Where the provider ends its own session; `null` if it cannot. */
  readonly end_session_url: string | null;
  /** Encrypted: the hint for the provider's logout. */
  readonly id_token: string | null;
  /** Read only through `userScope`: sessions of earlier releases contain whatever the provider was asked for. */
  readonly scope: string;
  /** When the user authenticated, according to the provider. */
  readonly auth_time: Date | null;
  readonly amr: readonly string[];
  readonly acr: string | null;
  /** Of the browser that signed in. */
  readonly ip_address: string;
  readonly user_agent: string;
  readonly created_at: Date;
  readonly last_used_at: Date;
  /** Regardless of use. */
  readonly expires_at: Date;
  /** Unless it is used again before. */
  readonly alive_until: Date;
  readonly last_token_expires_at: Date | null;
  readonly ended_at: Date | null;
  readonly end_reason: EndReason | null;
}

export const SESSION_STATUSES = ["active", "expired", "ended"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export function statusOf(row: Pick<SessionRow, "ended_at" | "alive_until">, now: Date): SessionStatus {
  if (row.ended_at !== null) return "ended";
  return row.alive_until > now ? "active" : "expired";
}

/** Sessions that the actor may see, as they are stored. */
export function sessions(db: Knex, actor: Actor): Knex.QueryBuilder {
  const query = db("sessions").select(...sessionColumns(db));
  const only = onlyCustomerOf(actor);
  if (only !== undefined) void query.where("sessions.customer_id", only);
  return query;
}

export async function findSession(db: Knex, actor: Actor, id: string): Promise<SessionRow | undefined> {
  const row = await sessions(db, actor).where({ id }).first<StoredSession | undefined>();
  return row && currentSession(row);
}

/** Whoever it belongs to. */
export async function readSession(db: Knex, id: string): Promise<SessionRow | undefined> {
  const row = await db("sessions")
    .where({ id })
    .first<StoredSession | undefined>(...sessionColumns(db));
  return row && currentSession(row);
}

/** The customer is locked already, so that no ending is requested meanwhile. */
export async function lockSession(trx: Knex.Transaction, id: string): Promise<SessionRow | undefined> {
  const row = await trx("sessions")
    .where({ id })
    .forUpdate()
    .first<StoredSession | undefined>(...sessionColumns(trx));
  return row && currentSession(row);
}

export async function insertSession(
  trx: Knex.Transaction,
  row: Omit<SessionRow, "ended_at" | "end_reason" | "last_token_expires_at">,
): Promise<void> {
  await trx("sessions").insert({ ...row, amr: JSON.stringify(row.amr) });
}

/** Records that tokens were issued: when they, and with them the session, expire. */
export async function keepAlive(
  trx: Knex.Transaction,
  id: string,
  times: Pick<SessionRow, "last_used_at" | "alive_until" | "last_token_expires_at">,
): Promise<void> {
  await trx("sessions").where({ id }).update(times);
}
