import { isIP } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";
import ipaddr from "ipaddr.js";
import type { AuthenticationFacts, AuthenticationRules, Violation } from "./types.ts";

/** Methods of RFC 8176 that say by themselves, or by their nature, that there were two factors. */
const MULTIPLE_FACTORS = new Set(["mfa", "mca"]);
/** Something known, something owned, something inherent (RFC 8176, section 2; NIST SP 800-63B). */
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
/** Seconds that the clock of whoever vouches for the time of authentication may be ahead. */
const CLOCK_TOLERANCE = 300;

/** @returns the first rule that the facts violate; what is not known violates. */
export function violationOf(rules: AuthenticationRules, facts: AuthenticationFacts): Violation | undefined {
  if (!rules.allowed_ip_ranges.every((ranges) => inRanges(facts.clientIp, ranges)))
    return "CLIENT_ADDRESS_NOT_ALLOWED";
  // the other rules are about people: a program has no mailbox, no second factor and no sign-in
  if (facts.machine === true) return undefined;
  const domain = domainOf(facts.email);
  if (!rules.allowed_email_domains.every((domains) => domain !== undefined && domains.includes(domain)))
    return "EMAIL_DOMAIN_NOT_ALLOWED";
  if (rules.mfa_required && !isMultiFactor(rules, facts)) return "MFA_REQUIRED";
  if (!isYoung(rules.max_session_duration, facts)) return "SESSION_TOO_OLD";
  return undefined;
}

/** The whole text of `acr` counts: the names of classes have no order, and none implies another. */
function isMultiFactor(
  { mfa_acr_values: counting = [] }: AuthenticationRules,
  facts: AuthenticationFacts,
): boolean {
  return provesMultipleFactors(facts.amr) || (facts.acr !== undefined && counting.includes(facts.acr));
}

/** A time that is yet to come says nothing about how old a session is. */
function isYoung(most: number | undefined, { authTime, now }: AuthenticationFacts): boolean {
  if (most === undefined) return true;
  return authTime !== undefined && now - authTime <= most && authTime - now <= CLOCK_TOLERANCE;
}

/** Whether the methods amount to multi-factor authentication: it is said, or they are of two kinds. */
export function provesMultipleFactors(amr: readonly string[]): boolean {
  if (amr.some((method) => MULTIPLE_FACTORS.has(method))) return true;
  return new Set(amr.flatMap((method) => FACTOR_OF.get(method) ?? [])).size > 1;
}

/**
 * The part after the last `@`, as policies write it: in ASCII and lower case. What merely looks or sounds like a domain
 * is none: of other texts only the one that the domain itself is shown as is read (RFC 5891, section 5).
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
 * Whether an address lies in one of the ranges. Text that is no address lies in none, and no range that is none holds one.
 *
 * @param ranges - addresses and networks in CIDR notation (RFC 4632, RFC 4291)
 */
export function inRanges(address: string, ranges: readonly string[]): boolean {
  // stricter than ipaddr.js, to which `10.1` and `010.0.0.1` are addresses
  if (isIP(address) === 0) return false;
  // an IPv4 client of an IPv6 socket is an IPv4 client
  const client = ipaddr.process(address);
  return ranges.some((range) => {
    if (!ipaddr.isValid(range) && !ipaddr.isValidCIDR(range)) return false;
    const [network, bits] = range.includes("/") ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), undefined];
    if (network.kind() !== client.kind()) return false;
    return client.match(network, bits ?? (network.kind() === "ipv4" ? 32 : 128));
  });
}
