import type { Knex } from "knex";
import { ApiError, validationFailed } from "../../platform/errors.ts";
import type { PolicyRow } from "./store.ts";

type Naming = Pick<PolicyRow, "id" | "conditions">;

/**
 * Why policies cannot be in force, by id: they name a set that does not exist, or has no active version and so denies
 * everything. Once a set has an active version, it always has one: another can be activated, and a rollback leads to an
 * earlier one.
 */
export async function problemsOfSets(
  trx: Knex.Transaction,
  policies: readonly Naming[],
): Promise<ReadonlyMap<string, ApiError>> {
  const names = policies.flatMap((policy) => setOf(policy) ?? []);
  if (names.length === 0) return new Map();
  const rows = await trx("policy_sets")
    .whereIn("name", [...new Set(names)])
    .select<{ name: string; activated: string[] }[]>("name", "activated");
  const activated = new Map(rows.map((row) => [row.name, row.activated]));
  return new Map(
    policies.flatMap((policy) => {
      const name = setOf(policy);
      if (name === undefined || (activated.get(name)?.length ?? 0) > 0) return [];
      return [[policy.id, problemOf(name, activated.has(name))]];
    }),
  );
}

/**
 * @throws ApiError POLICY_SET_NOT_ACTIVE; VALIDATION_FAILED for a set that does not exist
 */
export async function requireActiveSets(trx: Knex.Transaction, policies: readonly Naming[]): Promise<void> {
  const [problem] = (await problemsOfSets(trx, policies)).values();
  if (problem !== undefined) throw problem;
}

/** The same for conditions that a policy is about to have. */
export function requireActiveSet(trx: Knex.Transaction, conditions: PolicyRow["conditions"]): Promise<void> {
  return requireActiveSets(trx, [{ id: "", conditions }]);
}

function setOf({ conditions: { policy_set: name } }: Naming): string | undefined {
  return typeof name === "string" ? name : undefined;
}

function problemOf(name: string, exists: boolean): ApiError {
  if (!exists)
    return validationFailed([{ path: "conditions.policy_set", message: "is not a published policy set" }]);
  return new ApiError("POLICY_SET_NOT_ACTIVE", {
    message: `the policy set \`${name}\` has no active version: activate one first, otherwise every request is denied`,
    details: { policy_set: name },
  });
}
