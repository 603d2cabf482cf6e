import type { DecodedCheck, DoorCall, Task } from "../decision/point/index.ts";
import { createNetworks } from "../decision/decide/addresses.ts";
import { withoutAppendedPeer } from "../decision/headers/appended-peer.ts";
import type { AccessRequest } from "../decision/types.ts";
import type { RawRequest } from "../request/index.ts";
import { EXTENSION, PLAN_VERSION, PROXY_PROTOCOL, REPORTS } from "../envoy-contract.ts";
import { decodeCheck } from "./decode.ts";

/** Routes of our own Envoy configuration have filters for all of it; any Envoy can remove headers. */
const WITH_FILTERS: ReadonlySet<Task> = new Set([
  "request_headers",
  "response",
  "preflight",
  "messages",
  "connection",
]);
const WITHOUT_FILTERS: ReadonlySet<Task> = new Set(["request_headers"]);

export interface CheckReaderOptions {
  /** Time limit for the decision, from when the call of our own Envoy is read; ms. Default: none but the call's. */
  readonly decisionTimeout?: number;
  /** How long our own Envoy waits in addition, from when it asks; ms. Default: 0. */
  readonly queueTimeout?: number;
  readonly log: { warn(object: object, message: string): void };
}

/** @returns the decoder of CheckRequests: the input of the decision point, with what this route can enforce */
export function createCheckReader({
  decisionTimeout = Infinity,
  queueTimeout = 0,
  log,
}: CheckReaderOptions): (bytes: Buffer, call: DoorCall) => DecodedCheck {
  let warned = false;
  return (bytes, { deadline, traceparent: ofCall, askedAfter }) => {
    const call = decodeCheck(bytes);
    if (call.headersJoined && !warned) {
      warned = true;
      log.warn({}, "envoy joins repeated headers: set `encode_raw_headers: true` in its ext_authz filter");
    }
    // if Envoy traces, this call is a span of the request's trace, and ours is its child
    const traceparent = ofCall ?? call.traceparent;
    const proxyProtocol = call.contextExtensions[EXTENSION.proxyProtocol];
    const { contextExtensions, streamId } = call;
    const hasFilters = contextExtensions[EXTENSION.plans] === String(PLAN_VERSION);
    const { address: peer } = call.source;
    const isTold = call.forwardedProto !== undefined || isProxyProtocol(proxyProtocol);
    const read = hasFilters ? fromOurs(call.request, isTold) : fromAnotherEnvoy(call.request, peer);
    const joined = call.headersJoined ? { headers: severalPerhaps(call.request.headers) } : undefined;
    const access: AccessRequest = {
      raw: read.raw,
      peer,
      requestId: call.requestId,
      receivedAt: call.receivedAt,
      // the call may have waited in Envoy, and in the socket, before it was read
      deadline:
        askedAfter === undefined
          ? deadline
          : Math.min(
              deadline,
              Date.now() + decisionTimeout,
              call.receivedAt + askedAfter + queueTimeout + decisionTimeout,
            ),
      ...(call.bodies !== undefined && { bodies: call.bodies }),
      ...(isProxyProtocol(proxyProtocol) && { proxyProtocol }),
      ...(call.forwardedProto !== undefined && { forwardedProto: call.forwardedProto }),
      ...(traceparent !== undefined && { traceparent }),
      ...((joined ?? read.unknown) && { unknown: { ...read.unknown, ...joined } }),
    };
    return {
      access,
      carries: hasFilters ? WITH_FILTERS : WITHOUT_FILTERS,
      behindEnvoy: true,
      // our own routes upgrade nothing but WebSocket handshakes; another Envoy also a `POST`
      tunnels: !hasFilters,
      streamId,
      reportsUndecided: askedAfter !== undefined,
      reportsConnections: contextExtensions[EXTENSION.reports] === REPORTS.connections,
    };
  };
}

const isLoopback = createNetworks(["127.0.0.0/8", "::1/128"]);
const SCHEME_UNTOLD = { forwarding: "scheme" } as const;

/**
 * Our own configuration appends nobody, and copies X-Forwarded-Proto before Envoy overwrites it if there are trusted proxies. One
 * that was written before there were any does not.
 */
function fromOurs(raw: RawRequest, isTold: boolean): Pick<AccessRequest, "raw" | "unknown"> {
  return isTold ? { raw } : { raw, unknown: SCHEME_UNTOLD };
}

/**
 * What Envoy does to the headers of a proxy in front of it depends on its configuration (Envoy, "HTTP header manipulation"): with
 * `use_remote_address`, it appends the peer to X-Forwarded-For, and writes its own scheme into X-Forwarded-Proto. For a peer on
 * the same machine, it appends an address of its own, which nothing tells apart from a client's.
 */
function fromAnotherEnvoy(raw: RawRequest, peer: string): Pick<AccessRequest, "raw" | "unknown"> {
  if (isLoopback(peer)) return { raw, unknown: { forwarding: "all" } };
  const { headers, wasAppended } = withoutAppendedPeer(raw.headers, peer);
  return { raw: { ...raw, headers }, ...(wasAppended && { unknown: SCHEME_UNTOLD }) };
}

function isProxyProtocol(text: string | undefined): text is keyof typeof PROXY_PROTOCOL {
  return text === PROXY_PROTOCOL.http || text === PROXY_PROTOCOL.tcp;
}

/** Names of headers that may have been several, and were joined: which of them an application reads is not known. */
function severalPerhaps(headers: AccessRequest["raw"]["headers"]): ReadonlySet<string> {
  return new Set(headers.filter(([, value]) => value.includes(",")).map(([name]) => name));
}
