/** What an answer can warn of: it was done as asked, and may not do what was meant. Closed, as error codes are. */
export const WARNING_CODES = {
  NOT_USED_IN_SANDBOX:
    "the sandbox signs users in at its own identity provider: nothing is asked of the one configured, nor was it verified",
  MFA_NOT_ANNOUNCED:
    "the identity provider announces neither the claim `amr` nor a value of `acr` that counts as multi-factor: users may not be able to sign in; see `mfa_acr_values` of its configuration",
  AUTH_TIME_NOT_ANNOUNCED:
    "the identity provider does not announce the claim `auth_time`: where it says nothing of the time, the age of a session counts from its sign-in here, if the provider can be asked to prompt (`prompt=login`), and users cannot sign in otherwise; who signs in can take the prompt out of the address, and is then as old as the session at the provider",
  SHORT_SECRET:
    "the secret's key has fewer than 24 bytes and can be guessed from one delivery: use more, or leave `secret` out to have one made",
  NOT_BASE64: "what follows `whsec_` is not padded base64: the key is the whole text, `whsec_` included",
  INVISIBLE_CHARACTERS:
    "the secret begins or ends with a blank, or holds characters that cannot be seen; they are part of the key",
} as const;
export type WarningCode = keyof typeof WARNING_CODES;

/** A warning as it is answered. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  /** The policy that asks for it. */
  readonly policy_id?: string;
  /** How many of its customers it concerns. */
  readonly customers?: number;
}

export function warning(code: WarningCode, about: Pick<Warning, "policy_id" | "customers"> = {}): Warning {
  return { code, message: WARNING_CODES[code], ...about };
}
