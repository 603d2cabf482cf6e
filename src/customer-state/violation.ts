import { isIP } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";
import ipaddr from "ipaddr.js";
import type { AuthenticationFacts, AuthenticationRules, Violation } from "./types.ts";

/** RFC 4291, section 2.5.5.1: deprecated, and another address than the IPv4 address that ipaddr.js reads in it. */
const IPV4_COMPATIBLE = /^::\d+\./;

/** Methods of RFC 8176 that imply two factors on their own. */
const MULTIPLE_FACTORS = new Set(["mfa", "mca"]);
/** Knowledge, possession and inherence factors (RFC 8176, section 2; NIST SP 800-63B). */
const FACTOR_OF: ReadonlyMap<string, "knowledge" | "possession" | "inherence"> = new Map([
  ["pwd", "knowledge"],
  ["pin", "knowledge"],
  ["kba", "knowledge"],
  ["otp", "possession"],
  ["sms", "possession"],
  ["tel", "possession"],
  ["hwk", "possession"],
  ["swk", "possession"],
  ["pop", "possession"],
  ["sc", "possession"],
  ["face", "inherence"],
  ["fpt", "inherence"],
  ["iris", "inherence"],
  ["retina", "inherence"],
  ["vbm", "inherence"],
]);
/** Seconds that the clock of the authentication time's issuer may be ahead. A later time is not known. */
export const MAX_SECONDS_AHEAD = 300;

/** @returns the first rule that the facts violate; an unknown fact violates its rule */
export function violationOf(rules: AuthenticationRules, facts: AuthenticationFacts): Violation | undefined {
  if (!rules.allowed_ip_ranges.every((ranges) => inRanges(facts.clientIp, ranges)))
    return "CLIENT_ADDRESS_NOT_ALLOWED";
  // the other rules are about people: a machine client has no mailbox, second factor or sign-in
  if (facts.machine === true) return undefined;
  const domain = domainOf(facts.email);
  if (!rules.allowed_email_domains.every((domains) => domain !== undefined && domains.includes(domain)))
    return "EMAIL_DOMAIN_NOT_ALLOWED";
  if (rules.mfa_required && !isMultiFactor(rules, facts)) return "MFA_REQUIRED";
  if (!isYoung(rules.max_session_duration, facts)) return "SESSION_TOO_OLD";
  return undefined;
}

/** `acr` is compared as a whole: class names have no order, and none implies another. */
function isMultiFactor(
  { mfa_acr_values: counting = [] }: AuthenticationRules,
  facts: AuthenticationFacts,
): boolean {
  return provesMultipleFactors(facts.amr) || (facts.acr !== undefined && counting.includes(facts.acr));
}

/** A time in the future does not tell the age of a session. */
function isYoung(most: number | undefined, { authTime, now }: AuthenticationFacts): boolean {
  if (most === undefined) return true;
  return authTime !== undefined && now - authTime <= most && authTime - now <= MAX_SECONDS_AHEAD;
}

/** Whether the methods are multi-factor authentication: one implies it, or they are of two kinds. */
export function provesMultipleFactors(amr: readonly string[]): boolean {
  if (amr.some((method) => MULTIPLE_FACTORS.has(method))) return true;
  return new Set(amr.flatMap((method) => FACTOR_OF.get(method) ?? [])).size > 1;
}

/**
 * The part after the last `@`, as policies write it: in ASCII and lower case. Look-alikes of a domain do not count: of
 * other spellings, only the domain's own Unicode form is accepted (RFC 5891, section 5).
 */
function domainOf(email: string | undefined): string | undefined {
  const at = email?.lastIndexOf("@") ?? -1;
  if (email === undefined || at < 1) return undefined;
  const domain = email.slice(at + 1);
  if (/^[\x21-\x7e]+$/.test(domain)) return domain.toLowerCase();
  const ascii = domainToASCII(domain);
  return ascii !== "" && domainToUnicode(ascii) === domain ? ascii : undefined;
}

/**
 * Whether an address is in one of the ranges. Text that is not a valid address is in none, and an invalid range
 * contains none.
 *
 * @param ranges - addresses and networks in CIDR notation (RFC 4632, RFC 4291)
 */
export function inRanges(address: string, ranges: readonly string[]): boolean {
  // stricter than ipaddr.js, which accepts `10.1` and `010.0.0.1` as addresses
  if (isIP(address) === 0 || IPV4_COMPATIBLE.test(address)) return false;
  // an IPv4 client of an IPv6 socket is an IPv4 client
  const client = ipaddr.process(address);
  return ranges.some((range) => {
    if (!ipaddr.isValid(range) && !ipaddr.isValidCIDR(range)) return false;
    const [network, bits] = range.includes("/") ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), undefined];
    if (network.kind() !== client.kind()) return false;
    return client.match(network, bits ?? (network.kind() === "ipv4" ? 32 : 128));
  });
}
