import type { Knex } from "knex";
import type { ControlSettings } from "../platform/context.ts";
import { CLAIM_RULES, customers } from "./customers.ts";
import { sandboxIssuer } from "../platform/sandbox-issuer.ts";
import type { ClaimPolicy, ClaimRules } from "./permit-claims.ts";

type Environment = Pick<ControlSettings, "environment" | "publicUrl">;

/**
 * Which claims of a customer's users are accepted: in production, and from the customer's own provider, only those that
 * are listed. The sandbox's own provider belongs to the operator: everything is accepted until a list is set.
 *
 * @param issuer - who makes the claims
 */
export function claimPolicyOf(settings: Environment, rules: ClaimRules, issuer: string | null): ClaimPolicy {
  const own = settings.environment === "sandbox" && issuer === sandboxIssuer(settings);
  return { ...rules, unset: own ? "anything" : "nothing" };
}

/** The rules of several customers, by customer id. */
export async function claimRulesOf(
  db: Knex,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, ClaimRules>> {
  const rows = await customers(db)
    .whereRaw("id = any(?)", [[...new Set(customerIds)]])
    .select<(ClaimRules & { readonly id: string })[]>("id", ...CLAIM_RULES);
  return new Map(rows.map(({ id, ...rules }) => [id, rules]));
}

/** For a customer that does not exist: nothing is accepted. */
export const NO_CLAIMS: ClaimRules = {
  allowed_roles: null,
  allowed_permissions: null,
  allowed_groups: null,
  allowed_claims: null,
  role_mapping: {},
};
