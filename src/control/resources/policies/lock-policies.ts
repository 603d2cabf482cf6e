import type { Knex } from "knex";
import { lockRowsShared } from "../../../storage/index.ts";
import type { PolicyRow } from "./store.ts";

/** What an assignment reads of a policy. */
export type LockedPolicy = Pick<PolicyRow, "id" | "conditions" | "assign_to_new_customers">;

/**
 * Locks policies against changes until the transaction ends. A concurrent change waits, and then includes the customers
 * that they are assigned to in its notification of gateways.
 *
 * @returns those that exist, by id
 */
export async function lockExistingPolicies(
  trx: Knex.Transaction,
  ids: readonly string[],
): Promise<readonly LockedPolicy[]> {
  await lockRowsShared(trx, "policies", ids);
  return trx("policies")
    .whereIn("id", [...ids])
    .orderBy("id")
    .forShare()
    .select<LockedPolicy[]>("id", "conditions", "assign_to_new_customers");
}
