import { onlyCustomerOf, type Actor } from "./actor.ts";
import { ApiError } from "./errors.ts";

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
