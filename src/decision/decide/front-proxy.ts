import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { DenialReason } from "../../reasons.ts";
import type { RawRequest } from "../../request/types.ts";

/** What the direct peer may tell us about the caller (specification 2.11). */
export interface FrontProxy {
  readonly trusted: boolean;
  readonly clientIp: string;
  /** Set if the request must be refused because of these headers. */
  readonly refusal?: { readonly reason: DenialReason; readonly detail: string };
}

export interface FrontProxyOptions {
  /** CIDRs of the proxies that may send X-Backend-URL, X-User-Token and X-Real-IP. */
  readonly trustedProxies: readonly string[];
  /** The allowed values of X-Backend-URL. */
  readonly backends: readonly string[];
}

/**
 * @returns a function that reads the three front-proxy headers. From an untrusted peer, X-User-Token and X-Real-IP are
 *   ignored (and removed before the upstream sees them), and X-Backend-URL is refused, because Envoy has already used
 *   it to select a route.
 */
export function createFrontProxyReader(
  options: FrontProxyOptions,
): (raw: RawRequest, peer: string) => FrontProxy {
  const ranges = options.trustedProxies.map((cidr) => parseRange(cidr));
  const backends = new Set(options.backends);
  const isTrusted = (peer: string) => {
    if (ranges.length === 0 || !ipaddr.isValid(peer)) return false;
    const address = ipaddr.process(peer);
    return ranges.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  };
  return (raw, peer) => {
    const trusted = isTrusted(peer);
    const backend = raw.headers.filter(([name]) => name === "x-backend-url");
    if (backend.length > 0 && !trusted)
      return refused(peer, trusted, "UNTRUSTED_PROXY_HEADER", "x-backend-url");
    if (backend.length > 1)
      return refused(peer, trusted, "UNKNOWN_BACKEND", "the header `x-backend-url` is repeated");
    if (backend[0] !== undefined && !backends.has(backend[0][1])) {
      return refused(
        peer,
        trusted,
        "UNKNOWN_BACKEND",
        "the value of the header `x-backend-url` is not listed in `gateway.backends`",
      );
    }
    const real = trusted ? raw.headers.filter(([name]) => name === "x-real-ip") : [];
    if (real.length > 1)
      return refused(peer, trusted, "AMBIGUOUS_HEADERS", "the header `x-real-ip` is repeated");
    const address = real[0]?.[1].trim() ?? "";
    // not ipaddr, which also accepts `7` and `0x7f.1` as addresses
    return { trusted, clientIp: isIP(address) === 0 ? peer : address };
  };
}

function refused(clientIp: string, trusted: boolean, reason: DenialReason, detail: string): FrontProxy {
  return { trusted, clientIp, refusal: { reason, detail } };
}

function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
