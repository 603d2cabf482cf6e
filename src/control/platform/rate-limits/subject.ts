import ipaddr from "ipaddr.js";

/** The network that one subscriber usually has, for an IPv6 address (RFC 6177). */
const IPV6_GROUPS = 4;

/** Longer than any id or address: a proxy may pass on anything as an address. */
const MAX_LENGTH = 100;

/** The subject to count: an id as it is; IPv6 addresses (`ip:...`) by their /64. */
export function countedSubject(subject: string): string {
  const address = subject.startsWith("ip:") ? subject.slice(3) : undefined;
  if (address === undefined || !ipaddr.IPv6.isValid(address)) return subject.slice(0, MAX_LENGTH);
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, IPV6_GROUPS);
  return `ip:${parts.map((part) => part.toString(16)).join(":")}::/64`;
}
