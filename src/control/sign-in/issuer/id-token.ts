import { SignJWT } from "jose";
import type { TokenFacts } from "./access-token.ts";
import { ALGORITHM } from "./key-store.ts";
import type { SigningKey } from "./keyring.ts";

/** `typ` of ID tokens, so that they are never accepted as access tokens (`at+jwt`). */
export const ID_TOKEN_TYPE = "JWT";

/** Creates an ID token (OpenID Connect Core 1.0, section 2): who has signed in, for the client that asked. */
export function makeIdToken({ kid, key }: SigningKey, facts: TokenFacts): Promise<string> {
  const claims = {
    sid: facts.sessionId,
    amr: facts.amr,
    ...(facts.acr !== undefined && { acr: facts.acr }),
    ...(facts.authTime !== undefined && { auth_time: facts.authTime }),
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: ID_TOKEN_TYPE, kid })
    .setIssuer(facts.issuer)
    .setAudience(facts.clientId)
    .setSubject(facts.userId)
    .setIssuedAt(facts.issuedAt)
    .setExpirationTime(facts.expiresAt)
    .sign(key);
}
