import type { Knex } from "knex";
import { transaction } from "../../../storage/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import { keepDeletedIds } from "./deleted-customers.ts";

/** Rows of one transaction. */
const BATCH = 1_000;

/** What belongs to a customer besides its users and their sessions, and goes with it. */
const OF_CUSTOMER = [
  ...["sign_in_flows", "policy_assignments", "customer_idps", "webhooks", "api_keys", "sandbox_people"],
  "erasures",
] as const;

/**
 * Removes the rows of users and customers for good that were deleted long ago and are erased. Of customers the id is kept, for
 * gateways: no token that names one may ever count again.
 */
export async function pruneDeleted(
  { db, clock, settings }: Pick<ControlContext, "db" | "clock" | "settings">,
  signal?: AbortSignal,
): Promise<void> {
  const now = new Date(clock());
  const before = new Date(now.getTime() - settings.retention.deletedMs);
  for (const step of STEPS)
    while (signal?.aborted !== true && (await transaction(db, (trx) => step(trx, before, now))));
}

type Step = (trx: Knex.Transaction, before: Date, now: Date) => Promise<boolean>;
const STEPS: readonly Step[] = [removeUsers, removeCustomerRows, removeDashboardErasures];

/** @returns whether there may be more */
async function removeUsers(trx: Knex.Transaction, before: Date): Promise<boolean> {
  const ids: string[] = await erasedBefore(trx, "users", before);
  if (ids.length === 0) return false;
  if (await removeSome(trx, "sessions", "user_id", ids)) return true;
  await trx("users").whereRaw("id = any(?)", [ids]).delete();
  await trx("erasures").whereRaw("id = any(?)", [ids]).delete();
  return true;
}

/** The same of customers. */
async function removeCustomerRows(trx: Knex.Transaction, before: Date, now: Date): Promise<boolean> {
  const ids = await erasedBefore(trx, "customers", before).whereNotExists(
    // of users who were deleted before it, for example
    trx("erasures as open").whereRaw("open.customer_id = customers.id").whereNull("open.finished_at"),
  );
  if (ids.length === 0) return false;
  for (const table of ["sessions", "users"])
    if (await removeSome(trx, table, "customer_id", ids)) return true;
  await keepDeletedIds(trx, ids, now);
  for (const table of OF_CUSTOMER) await trx(table).whereRaw("customer_id = any(?)", [ids]).delete();
  await trx("customers").whereRaw("id = any(?)", [ids]).delete();
  return true;
}

/** Of dashboard users nothing else is left. */
async function removeDashboardErasures(trx: Knex.Transaction, before: Date): Promise<boolean> {
  await trx("erasures").where({ kind: "dashboard_user" }).where("finished_at", "<", before).delete();
  return false;
}

/** Those that another instance is just removing are left to it. */
function erasedBefore(trx: Knex.Transaction, table: "users" | "customers", before: Date) {
  return trx(table)
    .join("erasures", "erasures.id", `${table}.id`)
    .where(`${table}.deleted_at`, "<", before)
    .whereNotNull("erasures.finished_at")
    .orderBy(`${table}.id`)
    .limit(BATCH)
    .forUpdate(table)
    .skipLocked()
    .pluck<string[]>(`${table}.id`);
}

/** @returns whether there may be more */
async function removeSome(
  trx: Knex.Transaction,
  table: string,
  column: "user_id" | "customer_id",
  ids: readonly string[],
): Promise<boolean> {
  const some = trx(table)
    .whereRaw("?? = any(?)", [column, [...ids]])
    .limit(BATCH)
    .select("id");
  return (await trx(table).whereIn("id", some).delete()) === BATCH;
}
