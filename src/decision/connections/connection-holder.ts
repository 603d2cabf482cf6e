import { createHash } from "node:crypto";
import type { Identity } from "../../identity/types.ts";
import { networkOf } from "../decide/addresses.ts";

/**
 * @returns the holder of a connection, as a hash: the user together with the customer, or without a user the client's
 *   address
 */
export function holderOf(identity: Identity | undefined, clientIp: string): string {
  const user = identity && (identity.userId || identity.session.subject);
  const parts = user ? ["user", identity.customer?.["id"] ?? null, user] : ["address", networkOf(clientIp)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}
