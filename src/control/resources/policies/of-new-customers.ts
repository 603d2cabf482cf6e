import type { Knex } from "knex";
import { lockRowsShared, lockRowsUntilEnd } from "../../../storage/index.ts";
import { validationFailed } from "../../platform/errors.ts";
import { MAX_ASSIGNED } from "./assignments.ts";
import { lockExistingPolicies } from "./lock-policies.ts";
import { problemsOfSets } from "./required-sets.ts";

/** Maximum number of policies that new customers get: the others that one may have are left for its own. */
export const MAX_OF_NEW_CUSTOMERS = 20;

/** The lock of the list as a whole; no policy has this id. */
const THE_LIST = ["of new customers"];

/** The policies that a customer gets because it is new. */
export interface PoliciesOfNewCustomer {
  readonly assigned: readonly string[];
  /** Flagged, but they cannot be assigned. */
  readonly omitted: readonly string[];
}

/**
 * Locks the policies that a new customer gets. One that cannot be assigned is omitted, because whoever creates a customer
 * did not choose it. A policy that is deleted or no longer flagged meanwhile is not among them.
 */
export async function lockPoliciesOfNewCustomers(trx: Knex.Transaction): Promise<PoliciesOfNewCustomer> {
  await lockRowsShared(trx, "policies", THE_LIST);
  const flagged = await trx("policies")
    .where({ assign_to_new_customers: true })
    .orderBy("id")
    .pluck<string[]>("id");
  const locked = await lockExistingPolicies(trx, flagged);
  const policies = locked.filter((policy) => policy.assign_to_new_customers);
  const problems = await problemsOfSets(trx, policies);
  const usable = policies.filter(({ id }) => !problems.has(id)).map(({ id }) => id);
  const assigned = usable.slice(0, MAX_ASSIGNED);
  return { assigned, omitted: policies.map(({ id }) => id).filter((id) => !assigned.includes(id)) };
}

/**
 * To be called before a policy is locked that gets the flag, or is created with it. Whoever creates a customer waits, or
 * has committed: when the flag is set, every customer either exists or gets the policy.
 */
export function lockFlagOfNewCustomers(trx: Knex.Transaction): Promise<void> {
  return lockRowsUntilEnd(trx, "policies", THE_LIST);
}

/** @throws ApiError VALIDATION_FAILED if one more policy cannot have the flag */
export async function requireRoomForFlag(trx: Knex.Transaction): Promise<void> {
  const flagged = await trx("policies").where({ assign_to_new_customers: true }).pluck<string[]>("id");
  if (flagged.length < MAX_OF_NEW_CUSTOMERS) return;
  throw validationFailed([
    {
      path: "assign_to_new_customers",
      message: `cannot be set for more than ${MAX_OF_NEW_CUSTOMERS} policies`,
    },
  ]);
}
