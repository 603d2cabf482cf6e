import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import ipaddr from "ipaddr.js";
import * as z from "zod";
import { someOf } from "../../platform/frame/schemas.ts";

/** A year: a longer limit would be no limit. */
const MAX_DURATION = 31_536_000;

/** A domain; subdomains are separate domains. */
const emailDomain = z
  .string()
  .max(253)
  .transform((text, context) => {
    // percent-encoding would be decoded
    const domain = text.includes("%") ? "" : domainToASCII(text.toLowerCase());
    if (/^(?=.{1,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[\d-]*[a-z][a-z\d-]*$/.test(domain))
      return domain;
    context.addIssue({
      code: "custom",
      message: "must be a domain such as `example.com`, without `@` or wildcards; list each subdomain",
    });
    return z.NEVER;
  })
  .meta({ type: "string", maxLength: 253, examples: ["example.com"] });

const ipRange = z
  .string()
  .max(64)
  .transform((text, context) => {
    const range = readRange(text);
    if ("range" in range) return range.range;
    context.addIssue({ code: "custom", message: range.problem });
    return z.NEVER;
  })
  .meta({ type: "string", maxLength: 64, examples: ["192.0.2.0/24", "2001:db8::/32"] });

/** What an `authentication` policy requires of a sign-in. */
export const authenticationConditions = someOf({
  mfa_required: z.boolean(),
  max_session_duration: z
    .int()
    .min(60)
    .max(MAX_DURATION)
    .meta({ description: "Maximum time since the user authenticated, in seconds." }),
  allowed_email_domains: z.array(emailDomain).min(1).max(100),
  allowed_ip_ranges: z
    .array(ipRange)
    .min(1)
    .max(100)
    .meta({ description: "Addresses, or networks in CIDR notation, that the user's browser must have." }),
});

/** What an `authorization` policy requires of each request. */
export const authorizationConditions = z.strictObject({
  policy_set: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: "The name of a published policy set that must also permit the request." }),
});

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
