import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import type { ControlSettings } from "../../platform/context.ts";
import { userScope } from "../../resources/sessions/user-scopes.ts";
import type { AccessToken, IssuedTokens } from "./issued-tokens.ts";
import { required, type Form } from "./read-form.ts";

/** RFC 7662, section 2.2: the reason is not disclosed. */
const INACTIVE = { active: false } as const;

/**
 * Describes a token (RFC 7662). `token_type_hint` is not needed, because a token shows its type.
 *
 * @param actor - a key that is limited to one customer sees only that customer's tokens
 * @throws OAuthError
 */
export async function introspect(
  tokens: IssuedTokens,
  { publicUrl }: Pick<ControlSettings, "publicUrl">,
  actor: Actor,
  form: Form,
): Promise<object> {
  const token = required(form, "token");
  const refresh = await tokens.refresh(token);
  if (refresh !== undefined) {
    const { row, active } = refresh;
    const { session, user, until } = active;
    if (!maySee(actor, session.customer_id)) return INACTIVE;
    return {
      active: true,
      scope: userScope(session.scope),
      client_id: session.client_id,
      exp: seconds(row.expires_at < until ? row.expires_at : until),
      iat: seconds(row.created_at),
      sub: user.id,
      iss: publicUrl,
      sid: session.id,
      customer_id: session.customer_id,
      principal_type: "user",
    };
  }
  const access = await tokens.access(token);
  return access === undefined || !maySee(actor, customerOf(access)) ? INACTIVE : described(access);
}

/** The members of RFC 7662, section 2.2, and the token's claims about its sign-in. */
function described(token: AccessToken): object {
  const { claims } = token;
  // the session may end before the token expires
  const exp = token.of === "user" ? Math.min(claims.exp, seconds(token.active.until)) : claims.exp;
  const { iss, sub, aud, iat, jti, client_id, sid } = claims;
  const scope = token.of === "user" ? userScope(claims.scope) : claims.scope;
  const { customer_id, principal_type, acr, amr, auth_time } = claims;
  return {
    active: true,
    token_type: "Bearer",
    ...{ scope, client_id, exp, iat, sub, aud, iss, jti },
    ...{ sid, customer_id, principal_type, acr, amr, auth_time },
  };
}

/** The customer of the token; `null` for a machine client that acts for none. */
export function customerOf(token: AccessToken): string | null {
  return token.of === "user" ? token.active.session.customer_id : token.client.customer_id;
}

export function maySee(actor: Actor, customerId: string | null): boolean {
  return [undefined, customerId].includes(onlyCustomerOf(actor));
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
