import type { Request } from "express";
import { readBearer } from "../../platform/authentication/bearer.ts";
import type { ControlSettings } from "../../platform/context.ts";
import { CLAIMS_OF_SCOPES } from "../../resources/sessions/user-scopes.ts";
import { claimPolicyOf } from "../../tenancy/claim-policy.ts";
import { effectiveAttributes } from "../../resources/users/store.ts";
import type { AccessToken, IssuedTokens } from "./issued-tokens.ts";
import { OAuthError } from "./oauth-error.ts";

const REALM = 'Bearer realm="gatehouse"';

/** The caller of the UserInfo endpoint, or why there is none. */
export async function bearerOf(request: Request, tokens: IssuedTokens): Promise<AccessToken | OAuthError> {
  const values = request.headersDistinct["authorization"];
  // RFC 6750, section 3.1: without credentials there is no error code
  if (values === undefined) return refused("invalid_token", "an access token is required", REALM);
  const token = readBearer(values);
  // RFC 6750, section 2: a token is sent in exactly one way
  if (typeof token !== "string")
    return challenged("invalid_request", "the `Authorization` header must be `Bearer <access token>`");
  return (
    (await tokens.access(token)) ?? challenged("invalid_token", "the access token is invalid or has expired")
  );
}

/**
 * Describes a user (OpenID Connect Core 1.0, section 5.3): as the directory knows them now, by the scopes of the token.
 *
 * @throws OAuthError insufficient_scope for a token without `openid`, which a machine client's never has
 */
export function userInfo(
  settings: Pick<ControlSettings, "environment" | "publicUrl">,
  token: AccessToken,
): object {
  const scopes = token.claims.scope.split(" ");
  if (token.of !== "user" || !scopes.includes("openid"))
    throw challenged("insufficient_scope", "the access token needs the scope `openid`", 'scope="openid"');
  const { user, customer } = token.active;
  const { groups } = effectiveAttributes(user, claimPolicyOf(settings, customer, user.issuer));
  const claims: Record<string, unknown> = {
    sub: user.id,
    name: user.name ?? undefined,
    updated_at: Math.floor(user.updated_at.getTime() / 1000),
    email: user.email ?? undefined,
    groups,
  };
  const named = Object.entries(CLAIMS_OF_SCOPES).flatMap(([scope, names]) =>
    scopes.includes(scope) ? [...names] : [],
  );
  return Object.fromEntries(named.map((name) => [name, claims[name]]));
}

/** RFC 6750, section 3: the error is also part of the challenge. */
function challenged(
  code: "invalid_request" | "invalid_token" | "insufficient_scope",
  description: string,
  ...more: readonly string[]
): OAuthError {
  const attributes = [`error="${code}"`, `error_description="${description}"`, ...more];
  return refused(code, description, `${REALM}, ${attributes.join(", ")}`);
}

function refused(
  code: "invalid_request" | "invalid_token" | "insufficient_scope",
  description: string,
  challenge: string,
): OAuthError {
  return new OAuthError(code, description, { headers: { "www-authenticate": challenge } });
}
