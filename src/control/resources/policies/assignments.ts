import type { Knex } from "knex";
import type { CustomerRow } from "../../tenancy/customers.ts";
import { ApiError, validationFailed } from "../../platform/errors.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { lockExistingPolicies, type LockedPolicy } from "./lock-policies.ts";
import { requireActiveSets } from "./required-sets.ts";
import { policiesOf, POLICY_COLUMNS, type PolicyRow } from "./store.ts";
import { announceUpdate } from "../../tenancy/announce-update.ts";

/** A policy of a customer. */
export interface AssignedRow extends PolicyRow {
  readonly assigned_at: Date;
}

export const ASSIGNED_COLUMNS = [...POLICY_COLUMNS, "policy_assignments.assigned_at"] as const;

/** Maximum number of policies per customer: each is evaluated at each of its sign-ins and requests. */
export const MAX_ASSIGNED = 100;

/**
 * Assigns policies to a customer whose row is locked: all of them, or none. Existing assignments stay as they are.
 *
 * @param policyIds - those that the caller has chosen
 * @param ofNew - locked ones, that a new customer gets besides
 * @returns all policies of the customer
 * @throws ApiError 422 for policies that do not exist, or name a set that is not in force; CONFLICT if there are too
 *   many
 */
export async function assignPolicies(
  unit: UnitOfWork,
  customer: CustomerRow,
  policyIds: readonly string[],
  ofNew: readonly string[] = [],
): Promise<readonly AssignedRow[]> {
  const { trx, now } = unit;
  const chosen = await lockPolicies(trx, policyIds);
  const before = await assignedIds(trx, customer.id);
  const added = [...new Set([...ofNew, ...policyIds])].filter((id) => !before.includes(id));
  await requireActiveSets(
    trx,
    chosen.filter(({ id }) => added.includes(id)),
  );
  if (before.length + added.length > MAX_ASSIGNED)
    throw new ApiError("CONFLICT", {
      message: `a customer may have at most ${MAX_ASSIGNED} policies`,
      details: {
        customer_id: customer.id,
        assigned: before.length,
        limit: MAX_ASSIGNED,
        ...(ofNew.length > 0 && { of_new_customers: ofNew.length }),
      },
    });
  if (added.length > 0) {
    await trx("policy_assignments").insert(
      added.map((policy_id) => ({ customer_id: customer.id, policy_id, assigned_at: now })),
    );
    announce(unit, customer, { action: "policy.assigned", before, after: [...before, ...added] });
  }
  return policiesOf(trx, customer.id)
    .select<AssignedRow[]>(...ASSIGNED_COLUMNS)
    .orderBy([{ column: "policy_assignments.assigned_at" }, { column: "policies.id" }]);
}

/** Removes a policy from a customer whose row is locked. @throws ApiError POLICY_NOT_FOUND if it is not assigned */
export async function unassignPolicy(
  unit: UnitOfWork,
  customer: CustomerRow,
  policyId: string,
): Promise<void> {
  const before = await assignedIds(unit.trx, customer.id);
  if (!before.includes(policyId))
    throw new ApiError("POLICY_NOT_FOUND", {
      message: "the policy is not assigned to the customer",
      details: { customer_id: customer.id, policy_id: policyId },
    });
  await unit.trx("policy_assignments").where({ customer_id: customer.id, policy_id: policyId }).delete();
  announce(unit, customer, {
    action: "policy.unassigned",
    before,
    after: before.filter((id) => id !== policyId),
  });
}

/** @throws ApiError VALIDATION_FAILED for policies that do not exist */
async function lockPolicies(trx: Knex.Transaction, ids: readonly string[]): Promise<readonly LockedPolicy[]> {
  const found = await lockExistingPolicies(trx, ids);
  const missing = ids.flatMap((id, index) =>
    found.some((policy) => policy.id === id)
      ? []
      : [{ path: `policy_ids.${index}`, message: "is not an existing policy" }],
  );
  if (missing.length > 0) throw validationFailed(missing);
  return found;
}

function assignedIds(trx: Knex.Transaction, customerId: string): Promise<string[]> {
  return trx("policy_assignments")
    .where({ customer_id: customerId })
    .orderBy(["assigned_at", "policy_id"])
    .pluck<string[]>("policy_id");
}

function announce(
  unit: UnitOfWork,
  customer: CustomerRow,
  change: { readonly action: string; readonly before: readonly string[]; readonly after: readonly string[] },
): void {
  unit.record({
    action: change.action,
    target: { type: "customer", id: customer.id },
    customerId: customer.id,
    before: { policy_ids: change.before },
    after: { policy_ids: change.after },
  });
  announceUpdate(unit, customer, "policies");
  unit.notifyGateways({ type: "customer_changed", customer_id: customer.id });
}
