import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Global unicast (RFC 4291, section 2.4); addresses outside are not assigned to any reachable network. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Public by its range, but at Azure it is the platform of the machine itself, with settings and certificates of the machine
 * (learn.microsoft.com, "What is IP address 168.63.129.16?").
 */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * Whether an address belongs to the public internet. Everything else is refused, known or not: private, loopback,
 * link-local, shared, multicast and reserved ranges, and IPv6 addresses that contain an IPv4 address (mapped,
 * translated, 6to4, Teredo), because they lead wherever that address leads.
 *
 * @param address - an IP address as text; any other text is not public
 */
export function isPublicAddress(address: string): boolean {
  // a zone (RFC 4007) names an interface of this machine
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (OF_THE_MACHINE.has(parsed.toString())) return false;
  if (parsed.range() !== "unicast") return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_UNICAST);
}
