import { createHash } from "node:crypto";
import type { Identity } from "../../identity/types.ts";

/**
 * @returns the holder of a connection, as a hash: the user together with the customer, or without a user the client's
 *   address
 */
export function holderOf(identity: Identity | undefined, clientIp: string): string {
  const user = identity && (identity.userId || identity.session.subject);
  const parts = user ? ["user", identity.customer?.["id"] ?? null, user] : ["address", networkOf(clientIp)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}

/** An IPv6 client may use any address of its /64 (RFC 4291, section 2.5.1), so these count as one. */
function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(":");
}
