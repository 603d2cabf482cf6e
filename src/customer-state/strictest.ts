import type { AuthenticationConditions, AuthenticationRules } from "./types.ts";

/**
 * Combines the conditions of several policies, so that a sign-in satisfies the result exactly if it satisfies each of
 * them.
 */
export function strictest(policies: readonly AuthenticationConditions[]): AuthenticationRules {
  const durations = policies.flatMap(({ max_session_duration: most }) => (most === undefined ? [] : [most]));
  return {
    mfa_required: policies.some(({ mfa_required }) => mfa_required === true),
    ...(durations.length > 0 && { max_session_duration: Math.min(...durations) }),
    allowed_email_domains: policies.flatMap(({ allowed_email_domains: list }) => (list ? [list] : [])),
    allowed_ip_ranges: policies.flatMap(({ allowed_ip_ranges: list }) => (list ? [list] : [])),
  };
}
