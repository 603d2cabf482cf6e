import type { Actor } from "../platform/actor.ts";
import { requireOperator } from "../platform/require-operator.ts";
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
