import type { Knex } from "knex";
import { lockRowsUntilEnd, lockUntilEnd } from "../../../storage/index.ts";
import type { Role } from "../../platform/actor.ts";
import { ApiError } from "../../platform/errors.ts";
import { readPage, type ListRequest } from "../../platform/frame/list.ts";
import type { USER_STATUSES } from "./schemas.ts";

export interface DashboardUserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly password_hash: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_sign_in_at: Date | null;
  readonly revision: number;
}

export function findDashboardUser(db: Knex, id: string): Promise<DashboardUserRow | undefined> {
  return db<DashboardUserRow>("dashboard_users").where({ id }).first();
}

export function findDashboardUserByEmail(db: Knex, email: string): Promise<DashboardUserRow | undefined> {
  return db<DashboardUserRow>("dashboard_users").where({ email }).first();
}

/** @throws ApiError 404 */
export async function requireDashboardUser(db: Knex, id: string): Promise<DashboardUserRow> {
  return (await findDashboardUser(db, id)) ?? notFound(id);
}

/**
 * @param others - users who are locked later, in the same order
 * @throws ApiError 404
 */
export async function lockDashboardUser(
  trx: Knex.Transaction,
  id: string,
  others: readonly string[] = [],
): Promise<DashboardUserRow> {
  await lockRowsUntilEnd(trx, "credentials", [id, ...others]);
  const row = await trx<DashboardUserRow>("dashboard_users").where({ id }).forUpdate().first();
  return row ?? notFound(id);
}

/**
 * Locks all owners in a fixed order: of two changes that together would leave none, the second one sees the first.
 *
 * @param others - users who are locked later, in the same order
 */
export async function lockOwners(
  trx: Knex.Transaction,
  others: readonly string[] = [],
): Promise<DashboardUserRow[]> {
  const owners = trx<DashboardUserRow>("dashboard_users").where({ role: "owner" }).orderBy("id");
  await lockRowsUntilEnd(trx, "credentials", [...(await owners.clone().pluck<string[]>("id")), ...others]);
  return owners.forUpdate();
}

/** @throws ApiError 409 if the e-mail address is in use */
export async function insertDashboardUser(trx: Knex.Transaction, row: DashboardUserRow): Promise<void> {
  const inserted = await trx("dashboard_users").insert(row).onConflict("email").ignore().returning("id");
  if (inserted.length === 0)
    throw new ApiError("DUPLICATE", {
      message: "the e-mail address is already in use by a dashboard user",
      details: { email: row.email },
    });
}

export async function anyDashboardUser(db: Knex): Promise<boolean> {
  return (await db<DashboardUserRow>("dashboard_users").first("id")) !== undefined;
}

/** A lock for creating the first owner or its link; held until the transaction ends. */
export async function lockSetup(trx: Knex.Transaction): Promise<void> {
  await lockUntilEnd(trx, "dashboardSetup");
}

export function listDashboardUsers(
  db: Knex,
  {
    role,
    status,
    ...request
  }: ListRequest & {
    readonly role?: Role | undefined;
    readonly status?: (typeof USER_STATUSES)[number] | undefined;
  },
): Promise<{ readonly rows: readonly DashboardUserRow[]; readonly total: number }> {
  const query = db("dashboard_users").select("*");
  if (role !== undefined) void query.where({ role });
  if (status === "active") void query.whereNotNull("password_hash");
  if (status === "invited") void query.whereNull("password_hash");
  const columns = { created_at: "created_at", email: "email", name: "name", id: "id" };
  return readPage(query, request, columns);
}

/** A user as returned by the API. */
export function viewOfUser(row: DashboardUserRow) {
  return { ...row, status: row.password_hash === null ? ("invited" as const) : ("active" as const) };
}

/** A user as recorded in the audit trail. */
export function recordedUser({ email, name, role }: DashboardUserRow) {
  return { email, name, role };
}

function notFound(id: string): never {
  throw new ApiError("DASHBOARD_USER_NOT_FOUND", { details: { id } });
}
