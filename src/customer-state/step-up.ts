import type { AuthenticationRules, Violation } from "./types.ts";

/** The requirements for another sign-in, in the terms of RFC 9470, section 3. */
export interface StepUp {
  readonly acr_values?: string;
  /** In seconds. */
  readonly max_age?: number;
}

/**
 * @returns everything that the rules require of a sign-in, if a new sign-in can end the violation; `undefined` if none
 *   can
 */
export function stepUpOf(rules: AuthenticationRules, violation: Violation | undefined): StepUp | undefined {
  if (violation !== "MFA_REQUIRED" && violation !== "SESSION_TOO_OLD") return undefined;
  const { mfa_required, mfa_acr_values: values = [], max_session_duration: most } = rules;
  return {
    ...(mfa_required && values.length > 0 && { acr_values: values.join(" ") }),
    ...(most !== undefined && { max_age: most }),
  };
}

/** RFC 9470, section 3, and RFC 6750, section 3: a parameter contains no `"`, `\` or control character. */
export function stepUpChallenge(description: string, { acr_values, max_age }: StepUp = {}): string {
  return [
    'Bearer realm="gatehouse", error="insufficient_user_authentication"',
    `error_description="${quotable(description)}"`,
    ...(acr_values === undefined ? [] : [`acr_values="${quotable(acr_values)}"`]),
    ...(max_age === undefined ? [] : [`max_age="${max_age}"`]),
  ].join(", ");
}

function quotable(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, " ");
}
