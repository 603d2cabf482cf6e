import { randomUUID } from "node:crypto";
import type { ClientRow } from "../../resources/clients/store.ts";
import type { ControlContext } from "../../platform/context.ts";
import { makeAccessToken } from "../issuer/access-token.ts";
import type { Keyring } from "../issuer/keyring.ts";
import type { OAuthClient } from "./client-authentication.ts";
import { OAuthError } from "./oauth-error.ts";
import { required, type Form } from "./read-form.ts";

/** The supported grant types. */
export const GRANT_TYPES = ["client_credentials"] as const;

/**
 * Creates an access token for a machine client (RFC 6749, section 4.4): the client's own, without a user. There is no
 * refresh token (section 4.4.3).
 *
 * @throws OAuthError
 */
export async function grantToClient(
  { settings, clock }: Pick<ControlContext, "settings" | "clock">,
  keyring: Keyring,
  client: OAuthClient,
  form: Form,
): Promise<object> {
  const grantType = required(form, "grant_type");
  if (grantType !== "client_credentials")
    throw new OAuthError("unsupported_grant_type", "the only supported grant type is `client_credentials`");
  if (client.kind !== "machine")
    throw new OAuthError(
      "unauthorized_client",
      "an API key has no identity of its own: use a machine client",
    );
  const { row } = client;
  const scope = scopeOf(form["scope"], row);
  const issuedAt = Math.floor(clock() / 1000);
  const { token } = await makeAccessToken(
    await keyring.signingKey(),
    {
      issuer: settings.publicUrl,
      audience: settings.audience,
      userId: row.id,
      customerId: row.customer_id ?? undefined,
      principalType: "machine",
      sessionId: row.session_id,
      clientId: row.id,
      tokenId: randomUUID(),
      scope,
      amr: [],
      acr: undefined,
      authTime: undefined,
      issuedAt,
      expiresAt: issuedAt + settings.accessTokenSeconds,
    },
    {},
  );
  // RFC 6749, section 5.1
  return {
    access_token: token,
    token_type: "Bearer",
    expires_in: settings.accessTokenSeconds,
    ...(scope !== "" && { scope }),
  };
}

/** RFC 6749, section 3.3: the requested scopes, all or nothing; by default all scopes of the client. */
function scopeOf(asked: string | undefined, { scopes }: ClientRow): string {
  if (asked === undefined) return scopes.join(" ");
  const wanted = [...new Set(asked.split(" "))];
  if (!wanted.every((scope) => scopes.includes(scope)))
    throw new OAuthError("invalid_scope", "the client is not allowed all of these scopes");
  return wanted.join(" ");
}
