import type { IdpRow, IdpType } from "./idp.ts";

/** OpenID Provider Authentication Policy Extension 1.0, section 4: more than one factor. */
export const PAPE_MULTI_FACTOR = "http://schemas.openid.net/pape/policies/2007/06/multi-factor";

/**
 * Classes that providers themselves document as multi-factor authentication:
 * - Okta, "Step-up authentication using ACR values": two factors of any kind, and phishing-resistant ones; not
 *   `...:2fa:any:ifpossible`, which one factor satisfies, too;
 * - Auth0, "Step-up authentication for web apps".
 *
 * For all other providers, the meaning of classes depends on their configuration: those of Keycloak are numbers by
 * default, those of Entra (`c1` to `c99`) what an administrator made them.
 */
const BY_TYPE: Readonly<Partial<Record<IdpType, readonly string[]>>> = {
  okta: ["urn:okta:loa:2fa:any", "phr", "phrh"],
  auth0: [PAPE_MULTI_FACTOR],
};

export type MfaEvidence = Pick<IdpRow, "type" | "mfa_acr_values">;

/** A provider of which only the type is known. */
export function asDocumented(type: IdpType): MfaEvidence {
  return { type, mfa_acr_values: null };
}

/** The values of `acr` with which a provider confirms that a user was authenticated with several factors. */
export function mfaAcrValues({ type, mfa_acr_values: configured }: MfaEvidence): readonly string[] {
  return configured ?? BY_TYPE[type] ?? [];
}
