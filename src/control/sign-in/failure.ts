import {
  stepUpChallenge,
  stepUpOf,
  type AuthenticationRules,
  type StepUp,
  type Violation,
} from "../../customer-state/index.ts";
import { printable, withoutAddresses } from "../platform/personal-data.ts";
import { ApiError } from "../platform/errors.ts";

/** Why a sign-in fails once its flow is known. The browser passes it to the application as `reason`. */
export type FailureReason =
  | Violation
  | "PROVIDER_REFUSED"
  | "PROVIDER_FAILED"
  | "PROVIDER_CHANGED"
  | "ACCOUNT_NOT_ALLOWED"
  | "CUSTOMER_SUSPENDED"
  | "USER_SUSPENDED";

export interface SignInFailure {
  readonly reason: FailureReason;
  /** A code of RFC 6749, section 4.1.2.1, or OpenID Connect Core 1.0, section 3.1.2.6. */
  readonly error: string;
  /** For the event history: the provider's error, or the provider's id of the user. */
  readonly detail?: string;
  /** The sign-in that would satisfy the policies. */
  readonly stepUp?: StepUp;
}

/** The meaning of each reason. */
export const SIGN_IN_FAILURES = {
  PROVIDER_REFUSED: "the identity provider did not sign the user in",
  PROVIDER_FAILED: "the identity provider returned an invalid response",
  PROVIDER_CHANGED: "the identity provider's configuration changed during the sign-in",
  ACCOUNT_NOT_ALLOWED: "the account does not belong to the customer at its identity provider",
  CUSTOMER_SUSPENDED: "the customer is suspended or archived",
  USER_SUSPENDED: "the user is suspended",
  MFA_REQUIRED: "a policy of the customer requires multi-factor authentication",
  SESSION_TOO_OLD: "a policy of the customer requires a more recent authentication",
  EMAIL_DOMAIN_NOT_ALLOWED: "a policy of the customer does not allow this e-mail domain",
  CLIENT_ADDRESS_NOT_ALLOWED: "a policy of the customer does not allow this client address",
} as const satisfies Record<FailureReason, string>;

export function describeFailure(reason: FailureReason): string {
  return SIGN_IN_FAILURES[reason];
}

/** Codes that are passed on; any other code of a provider becomes `server_error`. */
const PROVIDER_ERRORS: ReadonlySet<string> = new Set([
  "access_denied",
  "account_selection_required",
  "consent_required",
  "interaction_required",
  "invalid_scope",
  "login_required",
  "temporarily_unavailable",
]);

/**
 * The provider returned an error. Its text may contain a person's address, which a later erasure could not assign to
 * anybody, so it is not stored.
 */
export function refusedByProvider(error: string, description: string | undefined): SignInFailure {
  return {
    reason: "PROVIDER_REFUSED",
    error: PROVIDER_ERRORS.has(error) ? error : "server_error",
    detail: printable(withoutAddresses(description === undefined ? error : `${error}: ${description}`)),
  };
}

/** Any other reason. */
export function failedBecause(
  reason: Exclude<FailureReason, "PROVIDER_REFUSED">,
  detail?: string,
): SignInFailure {
  const ofProvider = reason === "PROVIDER_FAILED" || reason === "PROVIDER_CHANGED";
  return {
    reason,
    error: ofProvider ? "server_error" : "access_denied",
    ...(detail !== undefined && { detail: printable(detail) }),
  };
}

/** A policy of the customer is violated; if another sign-in would satisfy it, the failure describes that. */
export function failedByPolicy(
  violation: Violation,
  rules: AuthenticationRules,
  detail: string | undefined,
): SignInFailure {
  const stepUp = stepUpOf(rules, violation);
  return { ...failedBecause(violation, detail), ...(stepUp && { stepUp }) };
}

/** The same for an open session: 401 with a challenge (RFC 9470, section 3), or 403 if no sign-in would satisfy it. */
export function policyViolated(
  violation: Violation,
  rules: AuthenticationRules,
  details: Readonly<Record<string, unknown>>,
): ApiError {
  const stepUp = stepUpOf(rules, violation);
  const allDetails = { reason: violation, ...details };
  if (stepUp === undefined) return new ApiError("POLICY_VIOLATED", { details: allDetails });
  return new ApiError("POLICY_VIOLATED", {
    status: 401,
    details: { ...allDetails, ...stepUp },
    headers: { "www-authenticate": stepUpChallenge(describeFailure(violation), stepUp) },
  });
}

/** The target of the browser. The return URL is one of the customer's, and its own query is kept. */
export function withParameters(returnUrl: string, parameters: Readonly<Record<string, string>>): string {
  // only ASCII, because it is a header
  const { href } = new URL(returnUrl);
  return `${href}${href.includes("?") ? "&" : "?"}${new URLSearchParams(parameters).toString()}`;
}
