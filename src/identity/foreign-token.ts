import { isApiKey } from "./api-key-verifier.ts";
import { decodeObject } from "./token-header.ts";

/** Longer than any token that is accepted: not examined. */
const MAX_EXAMINED = 16 * 1024;

/**
 * Whether a bearer token is certainly not one of ours but the application's own: it does not resemble a JWT, or it is a JWT
 * that names another issuer. A damaged, encrypted or expired token of ours stays ours, however bad: it is refused, and
 * never taken for no token.
 */
export function isForeignToken(token: string, issuer: string): boolean {
  if (isApiKey(token) || token.length > MAX_EXAMINED) return false;
  const [header = "", payload = "", ...rest] = token.split(".");
  if (!resemblesJson(header)) return true;
  const claims = rest.length === 1 ? decodeObject(payload) : undefined;
  if (claims?.ok !== true) return false;
  const { iss } = claims.value;
  return typeof iss === "string" && iss !== issuer;
}

/** Also in forms that no verifier accepts: padded, or with stray bits. */
function resemblesJson(segment: string): boolean {
  return Buffer.from(segment, "base64url").toString("latin1").trimStart().startsWith("{");
}
