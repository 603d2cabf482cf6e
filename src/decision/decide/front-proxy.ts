import {
  FORWARDED_HEADERS,
  USUAL_FORWARDED_HEADERS,
  type ForwardedHeader,
  type RawRequest,
} from "../../request/index.ts";
import type { DenialReason } from "../../reasons.ts";
import { isForwarding, isProductsOwn } from "../headers/forwarding-headers.ts";
import type { HeaderChanges } from "../headers/identity-headers.ts";
import type { AccessRequest, UnknownParts, Untold } from "../types.ts";
import { createNetworks, readAddress, readPeer } from "./addresses.ts";
import { readForwarded } from "./read-forwarded.ts";

/** What the direct peer may tell us about the caller (specification 2.11), and about the request before it was forwarded. */
export interface FrontProxy {
  readonly trusted: boolean;
  readonly clientIp: string;
  /** The request with the scheme that the client used, and with the headers that the application gets. */
  readonly raw: RawRequest;
  /** The host that the client asked for, with its port, if a trusted proxy sent X-Forwarded-Host. */
  readonly host?: string;
  /** What must change for the application to get these headers; absent if nothing must. */
  readonly changes?: HeaderChanges;
  /** What the door cannot tell, with what only these headers would say. */
  readonly unknown?: UnknownParts;
  /** What of that the door could have said of any other peer. */
  readonly untold?: Untold;
  /** Set if the request must be refused because of these headers. */
  readonly refusal?: { readonly reason: DenialReason; readonly detail: string };
}

export interface FrontProxyOptions {
  /** CIDRs of the proxies that may send X-Backend-URL, X-User-Token, X-Real-IP and the forwarded headers. */
  readonly trustedProxies: readonly string[];
  /** The allowed values of X-Backend-URL. */
  readonly backends: readonly string[];
  /** The headers that those proxies set, or append to. Default: the usual ones. */
  readonly forwardedHeaders?: readonly ForwardedHeader[];
  /** Number of those proxies. Without it, they are recognized by their addresses. */
  readonly trustedHops?: number;
  /** Headers that clients may send although usually proxies do. */
  readonly clientHeaders?: readonly string[];
}

export type ReadFrontProxy = (
  access: Pick<AccessRequest, "raw" | "peer" | "proxyProtocol" | "forwardedProto" | "unknown">,
) => FrontProxy;

/** No client may send these, whatever is configured. */
const ALWAYS_OURS: ReadonlySet<string> = new Set(FORWARDED_HEADERS);

/** Headers by which a proxy tells of the connection in more than one way, and which a door may keep to itself. */
const ALSO_HIDDEN = ["x-real-ip", "x-forwarded-port", "x-forwarded-server"];

const UNTOLD = {
  all: {
    why: "the peer is a trusted proxy, and this door does not tell what it says of its client: address, scheme and host are unknown",
    parts: {
      headers: new Set([...FORWARDED_HEADERS, ...ALSO_HIDDEN]),
      members: new Set(["client_ip", "host", "scheme"]),
    },
  },
  scheme: {
    why: "the peer is a trusted proxy, and this door does not tell which scheme it says its client used: the scheme is unknown",
    parts: { headers: new Set(["x-forwarded-proto", "forwarded"]), members: new Set(["scheme"]) },
  },
} as const satisfies Record<string, Untold>;

/** Values for headers; `undefined` where there must be none. */
type Wanted = Readonly<Record<string, string | undefined>>;

/**
 * @returns a function that reads what proxies say about a request. What an untrusted peer says is ignored, and removed or
 *   replaced before rules and the application see it; only X-Backend-URL is refused, because Envoy has already used it
 *   to select a route.
 */
export function createFrontProxyReader(options: FrontProxyOptions): ReadFrontProxy {
  const isTrusted = createNetworks(options.trustedProxies);
  const hasProxies = options.trustedProxies.length > 0;
  const backends = new Set(options.backends);
  const believed: ReadonlySet<ForwardedHeader> = new Set(options.forwardedHeaders ?? USUAL_FORWARDED_HEADERS);
  const accepted: ReadonlySet<string> = new Set(options.clientHeaders);
  const trust = { isTrusted, ...(options.trustedHops !== undefined && { hops: options.trustedHops }) };

  const fromUntrusted = (raw: RawRequest, clientIp: string, keeps = accepted): FrontProxy => {
    // a client of a Unix socket has no address
    const address = clientIp === "" ? undefined : clientIp;
    // if there are no trusted proxies, our Envoy sets it
    const wanted: Record<string, string | undefined> = hasProxies ? { "x-forwarded-for": address } : {};
    for (const [name] of raw.headers) {
      if (!isForwarding(name)) continue;
      if (name === "x-forwarded-for") wanted[name] = address;
      else if (name === "x-forwarded-proto") wanted[name] = raw.scheme;
      else if (ALWAYS_OURS.has(name) || !keeps.has(name)) wanted[name] = undefined;
    }
    return { trusted: false, clientIp, ...withHeaders(raw, wanted) };
  };

  const fromTrusted = (
    raw: RawRequest,
    peer: string,
    viaProxyProtocol: boolean,
    schemes: readonly string[] | "untold",
  ): FrontProxy => {
    const refused = (reason: DenialReason, detail: string): FrontProxy => ({
      ...{ trusted: true, clientIp: peer, raw },
      refusal: { reason, detail },
    });
    const reals = viaProxyProtocol ? [] : valuesOf(raw, "x-real-ip");
    if (reals.length > 1) return refused("AMBIGUOUS_HEADERS", "the header `x-real-ip` is repeated");
    // the PROXY protocol says who the client is, and nothing else does
    const read = viaProxyProtocol ? withoutAddresses(believed) : believed;
    const told = schemes === "untold" ? [] : schemes;
    const forwarded = readForwarded({ headers: raw.headers, schemes: told }, peer, read, trust);
    if (!forwarded.ok) return refused("AMBIGUOUS_FORWARDING", forwarded.detail);
    const { client, scheme = raw.scheme, host } = forwarded;
    const real = readAddress(reals[0]?.trim() ?? "");
    if (real !== undefined && client.index >= 0 && !client.passed.includes(real))
      return refused("AMBIGUOUS_FORWARDING", "the header `x-real-ip`: no proxy reports this address");
    const clientIp = real !== undefined && client.index < 0 ? real : client.address;
    const isUntold = schemes === "untold" && forwarded.scheme === undefined;
    const has = (name: string) => raw.headers.some(([header]) => header === name);
    const wanted: Record<string, string | undefined> = {
      "x-forwarded-for": clientIp,
      ...((forwarded.scheme !== undefined || (has("x-forwarded-proto") && schemes !== "untold")) && {
        "x-forwarded-proto": scheme,
      }),
      "x-forwarded-host": host,
      forwarded:
        read.has("forwarded") && has("forwarded")
          ? forwardedValue(clientIp, isUntold ? undefined : scheme, host)
          : undefined,
      "x-real-ip": reals.length > 0 ? clientIp : undefined,
    };
    for (const [name] of raw.headers)
      if (isProductsOwn(name) && !accepted.has(name)) wanted[name] = undefined;
    const seen = withHeaders({ ...raw, scheme }, wanted);
    return {
      ...{ trusted: true, clientIp, ...seen, ...(host !== undefined && { host }) },
      ...(isUntold && { untold: UNTOLD.scheme }),
    };
  };

  return ({ raw, peer: connected, proxyProtocol, forwardedProto, unknown }) => {
    const peer = readPeer(connected);
    // with the PROXY protocol, Envoy has checked the proxy's address, and the peer is the proxy's client
    const trusted = proxyProtocol === undefined ? isTrusted(peer) : proxyProtocol === "http";
    const refusal = refuseBackend(valuesOf(raw, "x-backend-url"), trusted, backends);
    if (refusal !== undefined) return { trusted, clientIp: peer, raw, refusal };
    if (!trusted) return fromUntrusted(raw, peer);
    // what is shown of these headers could contradict the rest
    if (unknown?.forwarding === "all")
      return {
        // such as `X-Forwarded-Port`, which load balancers set unasked
        ...fromUntrusted(raw, "", new Set([...accepted, ...namesOfTrusted(raw)])),
        ...{ trusted, unknown: without(unknown, UNTOLD.all), untold: UNTOLD.all },
      };
    if (unknown?.forwarding === "scheme") {
      const proxy = fromTrusted(raw, peer, proxyProtocol !== undefined, "untold");
      return proxy.untold === undefined ? proxy : { ...proxy, unknown: without(unknown, proxy.untold) };
    }
    const schemes = forwardedProto ?? valuesOf(raw, "x-forwarded-proto");
    return fromTrusted(raw, peer, proxyProtocol !== undefined, schemes);
  };
}

function refuseBackend(
  values: readonly string[],
  trusted: boolean,
  backends: ReadonlySet<string>,
): FrontProxy["refusal"] {
  const [value] = values;
  if (value === undefined) return undefined;
  if (!trusted) return { reason: "UNTRUSTED_PROXY_HEADER", detail: "x-backend-url" };
  if (values.length > 1)
    return { reason: "UNKNOWN_BACKEND", detail: "the header `x-backend-url` is repeated" };
  const detail = "the value of the header `x-backend-url` is not listed in `gateway.backends`";
  return backends.has(value) ? undefined : { reason: "UNKNOWN_BACKEND", detail };
}

/** @returns the names by which a trusted proxy is believed without being asked for it; not those that say who the client is */
function namesOfTrusted({ headers }: RawRequest): readonly string[] {
  return headers.map(([name]) => name).filter((name) => name.startsWith("x-forwarded-"));
}

/** @returns what is unknown if, in addition, nobody tells these parts */
function without({ headers, members, ...others }: UnknownParts, { parts }: Untold): UnknownParts {
  return {
    ...others,
    headers: headers === "all" ? headers : new Set([...(headers ?? []), ...parts.headers]),
    members: new Set([...(members ?? []), ...parts.members]),
  };
}

/** @returns the request as the rules see it */
export function asForwarded(access: AccessRequest, { raw, unknown }: FrontProxy): AccessRequest {
  if (raw === access.raw && unknown === undefined) return access;
  return { ...access, raw, ...(unknown && { unknown }) };
}

function withoutAddresses(believed: ReadonlySet<ForwardedHeader>): ReadonlySet<ForwardedHeader> {
  return new Set([...believed].filter((name) => name !== "x-forwarded-for" && name !== "forwarded"));
}

/** RFC 7239. */
function forwardedValue(address: string, scheme: string | undefined, host: string | undefined): string {
  const node = address.includes(":") ? `"[${address}]"` : address;
  const proto = scheme === undefined ? "" : `;proto=${scheme}`;
  return `for=${node}${host === undefined ? "" : `;host="${host}"`}${proto}`;
}

function valuesOf({ headers }: RawRequest, wanted: string): readonly string[] {
  return headers.filter(([name]) => name === wanted).map(([, value]) => value);
}

/** @returns the request with these headers and no others of their names, and the changes from what was sent */
function withHeaders(raw: RawRequest, wanted: Wanted): Pick<FrontProxy, "raw" | "changes"> {
  const set: (readonly [string, string])[] = [];
  const remove: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const sent = valuesOf(raw, name);
    if (value === undefined) {
      if (sent.length > 0) remove.push(name);
    } else if (sent.length !== 1 || sent[0] !== value) set.push([name, value]);
  }
  if (set.length === 0 && remove.length === 0) return { raw };
  const changed = new Set([...remove, ...set.map(([name]) => name)]);
  const kept = raw.headers.filter(([name]) => !changed.has(name));
  return { raw: { ...raw, headers: [...kept, ...set] }, changes: { set, remove } };
}
