import type { Knex } from "knex";
import type { ControlContext } from "../../platform/context.ts";
import { hashSecret, newSecret } from "../../platform/secret-box.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { anyDashboardUser, findDashboardUser, lockSetup } from "./store.ts";

const SETUP_MS = 24 * 3_600_000;
const INVITATION_MS = 72 * 3_600_000;
/** For an operator at the machine, who uses it right away. */
export const RESET_MS = 24 * 3_600_000;

export interface LinkRow {
  readonly token_hash: string;
  /** The user whose password it sets; null for the link that creates the first owner. */
  readonly user_id: string | null;
  /** The user who has made it; null if it was made on the machine itself. */
  readonly created_by: string | null;
  readonly expires_at: Date;
}

/** The one-time link that creates the first owner. */
export interface SetupLink {
  readonly expiresAt: Date;
  /** Known only when it is created, because only a hash is stored. */
  readonly url?: string;
}

/**
 * Ensures that there is a link for the first owner: a valid one is kept, otherwise one is created.
 *
 * @returns `undefined` if there is already a dashboard user
 */
export async function ensureSetupLink({
  db,
  clock,
  settings,
}: Pick<ControlContext, "db" | "clock" | "settings">): Promise<SetupLink | undefined> {
  return db.transaction(async (trx) => {
    await lockSetup(trx);
    const now = new Date(clock());
    const good = await trx<LinkRow>("dashboard_links")
      .whereNull("user_id")
      .where("expires_at", ">", now)
      .first();
    if (good !== undefined && !(await anyDashboardUser(trx))) return { expiresAt: good.expires_at };
    return replaceSetupLink(trx, settings.publicUrl, now);
  });
}

/**
 * Creates the link for the first owner, and invalidates an earlier one.
 *
 * @param publicUrl - the address of the API
 * @returns `undefined` if there is already a dashboard user
 */
export async function replaceSetupLink(
  trx: Knex.Transaction,
  publicUrl: string,
  now: Date,
): Promise<Required<SetupLink> | undefined> {
  await lockSetup(trx);
  if (await anyDashboardUser(trx)) return undefined;
  await trx("dashboard_links").whereNull("user_id").delete();
  const { token, expiresAt } = await insertLink(trx, { user_id: null, created_by: null }, now, SETUP_MS);
  return { url: `${publicUrl}/setup?token=${token}`, expiresAt };
}

/**
 * Creates the one-time link with which a user sets the password; replaces an earlier one. It is valid only as long as its
 * maker may make links, with the same password: {@link withdrawLinksBy}.
 */
export async function makeInvitation(
  { trx, now, origin: { actor } }: Pick<UnitOfWork, "trx" | "now" | "origin">,
  userId: string,
  publicUrl: string,
  forMs: number = INVITATION_MS,
): Promise<{ url: string; expires_at: Date }> {
  await trx("dashboard_links").where({ user_id: userId }).delete();
  const maker = actor.kind === "dashboard_user" ? actor.id : null;
  const { token, expiresAt } = await insertLink(trx, { user_id: userId, created_by: maker }, now, forMs);
  return { url: `${publicUrl}/invite?token=${token}`, expires_at: expiresAt };
}

/** Makes the links invalid that this user has made for others. */
export async function withdrawLinksBy(trx: Knex.Transaction, userId: string): Promise<void> {
  await trx("dashboard_links").where({ created_by: userId }).delete();
}

/**
 * Whether a link's maker may still make it: a release that does not know {@link withdrawLinksBy} may run beside this one.
 */
export async function isByOwner(db: Knex, { created_by: maker }: LinkRow): Promise<boolean> {
  return maker === null || (await findDashboardUser(db, maker))?.role === "owner";
}

/** Finds a valid link. */
export function findLink(db: Knex, token: string, now: Date): Promise<LinkRow | undefined> {
  return db<LinkRow>("dashboard_links").where(goodLink(token, now)).first();
}

/** Consumes a link. If two requests use it at once, only one succeeds. */
export async function takeLink(
  trx: Knex.Transaction,
  token: string,
  now: Date,
): Promise<LinkRow | undefined> {
  const [row] = await trx<LinkRow>("dashboard_links").where(goodLink(token, now)).delete().returning("*");
  return row;
}

function goodLink(token: string, now: Date) {
  return (query: Knex.QueryBuilder) =>
    void query.where("token_hash", hashSecret(token)).where("expires_at", ">", now);
}

async function insertLink(
  trx: Knex.Transaction,
  columns: Pick<LinkRow, "user_id" | "created_by">,
  now: Date,
  forMs: number,
): Promise<{ token: string; expiresAt: Date }> {
  const token = newSecret();
  const expiresAt = new Date(now.getTime() + forMs);
  await trx("dashboard_links").insert({
    token_hash: hashSecret(token),
    ...columns,
    created_at: now,
    expires_at: expiresAt,
  });
  return { token, expiresAt };
}
