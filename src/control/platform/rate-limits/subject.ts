import ipaddr from "ipaddr.js";

/** Of an IPv6 address, the network that one subscriber usually has to choose from (RFC 6177). */
const IPV6_GROUPS = 4;

/** More than any id or address has: what a proxy passes on as an address may be anything. */
const MAX_LENGTH = 100;

/** Who is counted as one: an id as it is; IPv6 addresses (`ip:...`) by their /64. */
export function countedSubject(subject: string): string {
  const address = subject.startsWith("ip:") ? subject.slice(3) : undefined;
  if (address === undefined || !ipaddr.IPv6.isValid(address)) return subject.slice(0, MAX_LENGTH);
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, IPV6_GROUPS);
  return `ip:${parts.map((part) => part.toString(16)).join(":")}::/64`;
}
