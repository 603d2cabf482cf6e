/**
 * Warnings in a response: the request was carried out, but may not have the intended effect. The list is closed, like
 * error codes.
 */
export const WARNING_CODES = {
  NOT_USED_IN_SANDBOX:
    "the sandbox signs users in at its own identity provider: the configured one is not used and was not verified",
  MFA_NOT_ANNOUNCED:
    "the identity provider announces neither the claim `amr` nor a value of `acr` that counts as multi-factor: users may not be able to sign in; see `mfa_acr_values` of its configuration",
  AUTH_TIME_NOT_ANNOUNCED:
    "the identity provider does not announce the claim `auth_time`. If it does not send the time, the age of a session counts from its sign-in here, provided that the provider supports `prompt=login`; otherwise users cannot sign in. A user can remove the prompt from the address; the real authentication is then as old as the session at the provider",
  POLICY_NOT_ASSIGNED:
    "the customer was created without a policy that new customers get: the policy set that it names has no active version, or the customer has as many policies as it may. Assign it once it can be",
  SHORT_SECRET:
    "the secret's key has fewer than 24 bytes and can be guessed from one delivery: use a longer one, or omit `secret` to have one generated",
  NOT_BASE64:
    "the text after `whsec_` is not padded base64: the whole text, including `whsec_`, is used as the key",
  INVISIBLE_CHARACTERS:
    "the secret begins or ends with white space, or contains invisible characters; they are part of the key",
} as const;
export type WarningCode = keyof typeof WARNING_CODES;

/** A warning as sent in a response. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  /** The policy that requires it. */
  readonly policy_id?: string;
  /** How many of its customers are affected. */
  readonly customers?: number;
}

export function warning(code: WarningCode, about: Pick<Warning, "policy_id" | "customers"> = {}): Warning {
  return { code, message: WARNING_CODES[code], ...about };
}
