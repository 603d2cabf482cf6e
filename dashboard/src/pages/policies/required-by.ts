import { requirements } from "../../messages/requirements.ts";

const texts = requirements.requires;

/** The conditions of a policy, by the names of the API. */
export interface Conditions {
  readonly mfa_required?: boolean;
  readonly max_session_duration?: number;
  readonly allowed_email_domains?: readonly string[];
  readonly allowed_ip_ranges?: readonly string[];
  readonly policy_set?: string;
}

/** @returns what a policy requires, in words */
export function requiredBy(conditions: Conditions): string[] {
  const { mfa_required: mfa, max_session_duration: most, policy_set: set } = conditions;
  const { allowed_email_domains: domains, allowed_ip_ranges: ranges } = conditions;
  return [
    ...(mfa === true ? [texts.mfa] : []),
    ...(most === undefined ? [] : [texts.duration(most / 60)]),
    ...(domains === undefined ? [] : [texts.domains(domains.join(", "))]),
    ...(ranges === undefined ? [] : [texts.ranges(ranges.join(", "))]),
    ...(set === undefined ? [] : [texts.policySet(set)]),
  ];
}
