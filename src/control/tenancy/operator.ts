import { onlyCustomerOf, type Actor } from "../platform/actor.ts";
import { ApiError } from "../platform/errors.ts";
import type { UnitOfWork } from "../platform/unit.ts";
import { lockCustomer, type CustomerRow } from "./customers.ts";

/**
 * Locks a customer for a change that its own keys must not make: a key that is limited to a customer may change the
 * customer's settings, but only those who run the platform decide on its status.
 *
 * @throws ApiError CUSTOMER_KEY_NOT_ALLOWED
 */
export async function lockCustomerForOperator(
  unit: UnitOfWork,
  actor: Actor,
  id: string,
): Promise<CustomerRow> {
  const row = await lockCustomer(unit.trx, actor, id);
  requireOperator(actor);
  return row;
}

/**
 * @param refused - the part of the request that only those who run the platform may send; default: all of it
 * @throws ApiError CUSTOMER_KEY_NOT_ALLOWED for a key that is limited to one customer
 */
export function requireOperator(
  actor: Actor,
  refused?: { readonly message: string; readonly fields: readonly string[] },
): void {
  const only = onlyCustomerOf(actor);
  if (only === undefined) return;
  const { message, fields } = refused ?? {};
  throw new ApiError("CUSTOMER_KEY_NOT_ALLOWED", {
    ...(message !== undefined && { message }),
    details: { customer_id: only, ...(fields && { fields }) },
  });
}
