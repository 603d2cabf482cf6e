import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import * as z from "zod";

/** An address, or a network in CIDR notation. */
export const ipRange = z
  .string()
  .max(64)
  .transform((text, context) => {
    const range = readRange(text);
    if ("range" in range) return range.range;
    context.addIssue({ code: "custom", message: range.problem });
    return z.NEVER;
  })
  .meta({ type: "string", maxLength: 64, examples: ["192.0.2.0/24", "2001:db8::/32"] });

/** An address or a network (RFC 4632, RFC 4291), in canonical form. */
function readRange(text: string): { readonly range: string } | { readonly problem: string } {
  const [, address = "", , bits] = /^([\da-fA-F:.]+)(\/(\d{1,3}))?$/.exec(text) ?? [];
  // stricter than ipaddr.js, which accepts `10.1` and `010.0.0.1` as addresses
  if (!isIPv4(address) && !isIPv6(address))
    return { problem: "must be an address or a network such as `192.0.2.0/24` or `2001:db8::/32`" };
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress())
    return { problem: `must be written as an IPv4 address: \`${parsed.toIPv4Address().toString()}\`` };
  if (bits === undefined) return { range: parsed.toString() };
  const most = parsed.kind() === "ipv4" ? 32 : 128;
  if (Number(bits) > most) return { problem: `must have a prefix of at most ${most} bits` };
  const network = networkOf(parsed, Number(bits));
  if (network !== parsed.toString())
    return { problem: `has bits set beyond the prefix; the network is \`${network}/${Number(bits)}\`` };
  return { range: `${network}/${Number(bits)}` };
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const cidr = `${address.toString()}/${bits}`;
  return (
    address.kind() === "ipv4"
      ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
      : ipaddr.IPv6.networkAddressFromCIDR(cidr)
  ).toString();
}
