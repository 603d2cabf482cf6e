import ipaddr from "ipaddr.js";

/** `isIP` of `node:net`: what ipaddr.js alone takes for an address is more. */
export function isIP(text: string): 0 | 4 | 6 {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4;
  return text.includes(":") && ipaddr.IPv6.isValid(text) ? 6 : 0;
}
