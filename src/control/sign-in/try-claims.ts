import type { ControlContext } from "../platform/context.ts";
import { validationFailed } from "../platform/errors.ts";
import { claimPolicyOf } from "../tenancy/claim-policy.ts";
import type { CustomerRow } from "../tenancy/customers.ts";
import type { IdpRow } from "../tenancy/idp.ts";
import { permitClaims } from "../tenancy/permit-claims.ts";
import { readIdentity } from "./claims.ts";
import { exactClaims } from "./exact-json.ts";

/**
 * Who would have signed in with the claims of an ID token. The token is not verified, so the answer says nothing about
 * whether a sign-in with it would succeed; nothing of it is stored or logged.
 *
 * @throws ApiError 422 if the token's claims cannot be read
 */
export function tryClaims(
  settings: ControlContext["settings"],
  customer: CustomerRow,
  idp: IdpRow,
  token: string,
) {
  const { subject, email, name, profile, amr, acr, leftOut } = identityOf(idp, token);
  const { permitted, dropped } = permitClaims(profile, claimPolicyOf(settings, customer, idp.issuer));
  return {
    ...{ subject, email: email ?? null, name: name ?? null, amr: [...amr], acr: acr ?? null },
    attributes: permitted,
    not_permitted: dropped,
    unusable: [...leftOut],
  };
}

function identityOf({ claims }: IdpRow, token: string) {
  try {
    return readIdentity(claims, exactClaims(token), {});
  } catch {
    throw validationFailed([
      { path: "token", message: "must be an ID token (a JWT) with a subject; its signature is not checked" },
    ]);
  }
}
