import type { Knex } from "knex";
import { customers } from "../../tenancy/customers.ts";
import type { IdpRow } from "../../tenancy/idp.ts";
import { mfaAcrValues } from "../../tenancy/mfa-acr-values.ts";
import { warning, type Warning, type WarningCode } from "../../platform/warnings.ts";
import { policiesOf, type PolicyRow } from "./store.ts";

type Evidence = Pick<IdpRow, "type" | "mfa_acr_values" | "capabilities">;
type Asking = Pick<PolicyRow, "id" | "type" | "status" | "conditions">;

/**
 * What a policy requires that a provider does not announce. Missing metadata are no reason to warn, because providers
 * may omit them; nor is a provider that was never asked.
 */
export function missingEvidence(policy: Asking, idp: Evidence): readonly WarningCode[] {
  const { capabilities } = idp;
  if (policy.type !== "authentication" || policy.status !== "active" || capabilities === null) return [];
  const { mfa_required: mfaRequired, max_session_duration: duration } = policy.conditions;
  const counting = mfaAcrValues(idp);
  const givesAcr =
    counting.length > 0 && (capabilities.acr_values?.some((value) => counting.includes(value)) ?? true);
  return [
    ...(mfaRequired === true && capabilities.amr === false && !givesAcr
      ? (["MFA_NOT_ANNOUNCED"] as const)
      : []),
    ...(duration !== undefined && capabilities.auth_time === false
      ? (["AUTH_TIME_NOT_ANNOUNCED"] as const)
      : []),
  ];
}

/** What a customer's policies require that its provider does not announce. */
export async function warningsOfCustomer(
  trx: Knex.Transaction,
  customerId: string,
  policyIds?: readonly string[],
): Promise<readonly Warning[]> {
  const idp = await trx("customer_idps")
    .where({ customer_id: customerId })
    .first<Evidence | undefined>(...EVIDENCE);
  if (idp === undefined) return [];
  const assigned = policiesOf(trx, customerId)
    .where("policies.type", "authentication")
    .orderBy("policies.id");
  if (policyIds !== undefined) void assigned.whereIn("policies.id", [...policyIds]);
  const policies = await assigned.select<Asking[]>(
    "policies.id",
    "policies.type",
    "policies.status",
    "policies.conditions",
  );
  return policies.flatMap((policy) =>
    missingEvidence(policy, idp).map((code) => warning(code, { policy_id: policy.id })),
  );
}

/** What a policy requires that providers of its customers do not announce: once each, with the number of customers. */
export async function warningsOfPolicy(
  trx: Knex.Transaction,
  policy: PolicyRow,
): Promise<readonly Warning[]> {
  if (policy.type !== "authentication" || policy.status !== "active") return [];
  const idps = await customers(trx)
    .join("policy_assignments", "policy_assignments.customer_id", "customers.id")
    .join("customer_idps", "customer_idps.customer_id", "customers.id")
    .where("policy_assignments.policy_id", policy.id)
    .whereNotNull("customer_idps.capabilities")
    .select<Evidence[]>(...EVIDENCE.map((column) => `customer_idps.${column}`));
  const codes = Map.groupBy(
    idps.flatMap((idp) => missingEvidence(policy, idp)),
    (code) => code,
  );
  return [...codes].map(([code, found]) => warning(code, { policy_id: policy.id, customers: found.length }));
}

const EVIDENCE = ["type", "mfa_acr_values", "capabilities"] as const;
