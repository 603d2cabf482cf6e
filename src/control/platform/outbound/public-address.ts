import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Global unicast (RFC 4291, section 2.4): what is assigned to no network that one could reach lies outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an address is one of the public internet. Everything else is refused, known or not: private, loopback,
 * link-local, shared, multicast and reserved ranges, and IPv6 addresses that carry an IPv4 address within them
 * (mapped, translated, 6to4, Teredo), for they lead wherever that one leads.
 *
 * @param address - an IP address as text; what is none is not public
 */
export function isPublicAddress(address: string): boolean {
  // a zone (RFC 4007) names an interface of this machine
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_UNICAST);
}
