import type { Knex } from "knex";
import { onlyCustomerOf, type Actor } from "../platform/actor.ts";
import { invalidCustomer } from "../platform/errors.ts";
import type { ClaimRules } from "./permit-claims.ts";
import { lockRowsUntilEnd, lockRowShared } from "../../storage/index.ts";

export const CUSTOMER_STATUSES = ["active", "suspended", "archived"] as const;
export type CustomerStatus = (typeof CUSTOMER_STATUSES)[number];

/**
 * The members of a customer that say which claims of its identity provider are accepted; only for those who run the
 * platform.
 */
export const CLAIM_RULES = [
  "allowed_roles",
  "allowed_permissions",
  "allowed_groups",
  "allowed_claims",
  "role_mapping",
] as const satisfies readonly (keyof ClaimRules)[];

/** A row of `customers`. */
export interface CustomerRow extends ClaimRules {
  readonly id: string;
  readonly external_id: string | null;
  readonly name: string;
  readonly status: CustomerStatus;
  readonly allowed_return_urls: string[];
  readonly metadata: Record<string, unknown>;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
  readonly revision: number;
}

/** The members of a customer that can be written. */
export type CustomerFields = Pick<
  CustomerRow,
  "external_id" | "name" | "status" | "allowed_return_urls" | "metadata" | keyof ClaimRules
>;

/** Claims of a new customer's provider are accepted only if that is stated. */
export type NewCustomerFields = Omit<CustomerFields, keyof ClaimRules> & Partial<ClaimRules>;

export const CUSTOMER_COLUMNS = [
  "id",
  "external_id",
  "name",
  "status",
  "allowed_return_urls",
  "metadata",
  ...CLAIM_RULES,
  "created_at",
  "updated_at",
  "deleted_at",
  "revision",
] as const satisfies readonly (keyof CustomerRow)[];

/** Customers that are not deleted. */
export function customers(db: Knex): Knex.QueryBuilder {
  return db("customers").whereNull("customers.deleted_at");
}

/** @returns the customer, unless it is deleted. */
export async function findCustomer(db: Knex, id: string): Promise<CustomerRow | undefined> {
  return customers(db)
    .where({ id })
    .first<CustomerRow | undefined>(...CUSTOMER_COLUMNS);
}

/**
 * Reads a customer that a request names.
 *
 * @throws ApiError INVALID_CUSTOMER if it does not exist, or the actor's key must not see it
 */
export async function requireCustomer(
  db: Knex,
  actor: Actor,
  id: string,
  where: "path" | "body",
): Promise<CustomerRow> {
  const found = maySee(actor, id) ? await findCustomer(db, id) : undefined;
  if (found === undefined) throw invalidCustomer(id, where);
  return found;
}

/**
 * Like {@link requireCustomer} for an id in a path, and locks the row against changes until the transaction ends. Other
 * rows may still refer to it: sign-ins do not wait.
 */
export async function lockCustomer(trx: Knex.Transaction, actor: Actor, id: string): Promise<CustomerRow> {
  if (maySee(actor, id)) await lockRowsUntilEnd(trx, "customers", [id]);
  const found = maySee(actor, id)
    ? await customers(trx)
        .where({ id })
        .forNoKeyUpdate()
        .first<CustomerRow | undefined>(...CUSTOMER_COLUMNS)
    : undefined;
  if (found === undefined) throw invalidCustomer(id, "path");
  return found;
}

/** Like {@link requireCustomer}, and locks the customer against deletion and suspension until the transaction ends. */
export async function requireCustomerShared(
  trx: Knex.Transaction,
  actor: Actor,
  id: string,
  where: "path" | "body",
): Promise<void> {
  if (!maySee(actor, id) || (await lockCustomerShared(trx, id)) === undefined)
    throw invalidCustomer(id, where);
}

/**
 * Reads a customer and locks it against changes, suspension and deletion until the transaction ends; others may do the
 * same. From the commit of a suspension or deletion on, all sessions that the customer had then count as ended: it either comes first
 * and is visible here, or comes later and ends what is created here.
 *
 * @returns the customer, unless it is deleted
 */
export async function lockCustomerShared(
  trx: Knex.Transaction,
  id: string,
): Promise<CustomerRow | undefined> {
  await lockRowShared(trx, "customers", id);
  return (
    customers(trx)
      .where({ id })
      // an instance of an earlier release changes it by the lock of the row alone
      .forShare()
      .first<CustomerRow | undefined>(...CUSTOMER_COLUMNS)
  );
}

function maySee(actor: Actor, id: string): boolean {
  return [undefined, id].includes(onlyCustomerOf(actor));
}
