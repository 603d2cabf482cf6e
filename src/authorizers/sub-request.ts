import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import type { DecodedCheck, DoorAbilities, DoorCall } from "../decision/point/index.ts";
import type { RawRequest } from "../request/index.ts";

/** A proxy's request for a decision: its headers describe the request that the decision is about. */
export interface SubRequest {
  /** Of the sub-request itself. */
  readonly method: string;
  readonly target: string;
  /** In order of arrival, names in lower case, repeated headers apart; values latin1. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What the proxy says about the request, without the client's headers. */
export interface Described extends Pick<RawRequest, "method" | "target" | "scheme" | "host" | "protocol"> {
  readonly address: string;
  /** The client's own headers of this connection, which a proxy does not pass on. */
  readonly hopByHop: RawRequest["headers"];
  /** All of these are told, and not only `Connection` and `Upgrade`. */
  readonly tellsHopByHop?: true;
  /** The proxy replaces what a proxy in front of it says of its client, and does not show it. */
  readonly hidesForwarding?: true;
  /** The proxy forwards any upgrade, not only WebSocket handshakes. */
  readonly tunnels?: true;
}

/** Headers of which a sub-request has its own, and that nobody tells in other words: whether the client sent them is not known. */
const NOT_TOLD = new Set(["content-length", "transfer-encoding", "keep-alive", "te"]);
/** Headers of the sub-request itself: the proxy sets them for each of its own connections. */
const OWN = new Set([...NOT_TOLD, "host", "connection", "upgrade"]);

/**
 * @returns the value of a header that a proxy must send exactly once
 * @throws Error if it is missing or repeated
 */
export function once({ headers }: SubRequest, name: string): string {
  const [value, ...more] = headers.flatMap(([header, text]) => (header === name ? [text] : []));
  if (value === undefined) throw new Error(`the proxy did not send ${name}`);
  if (more.length > 0) throw new Error(`${name} was sent more than once`);
  return value;
}

/**
 * Builds the input of the decision point. The body is absent: these proxies do not send it, so its content is unknown.
 * Nothing is carried: these proxies can neither mask a response nor remove headers that they are not configured for.
 *
 * @param sources - names of the headers that describe the request; they are no headers of it
 */
export function checkOf(
  { headers }: SubRequest,
  { address, hopByHop, tellsHopByHop, hidesForwarding, tunnels, ...line }: Described,
  sources: ReadonlySet<string>,
  { deadline }: DoorCall,
): DecodedCheck {
  const theClients = headers.filter(([name]) => !sources.has(name) && !OWN.has(name));
  const traces = theClients.flatMap(([name, value]) => (name === "traceparent" ? [value] : []));
  const [traceparent] = traces;
  return {
    access: {
      raw: { ...line, headers: [...theClients, ...hopByHop] },
      peer: address,
      requestId: randomUUID(),
      receivedAt: Date.now(),
      deadline,
      ...(traceparent !== undefined && traces.length === 1 && { traceparent }),
      ...(tellsHopByHop !== true && {
        unknown: { headers: NOT_TOLD, ...(hidesForwarding && { forwarding: "all" as const }) },
      }),
    },
    carries: DESCRIPTIONS.carries,
    overwrites: FORWARDING,
    ...(tunnels && { tunnels }),
  };
}

/** What every caller can do that only describes a request. */
export const DESCRIPTIONS: DoorAbilities = { carries: new Set(), sendsBodies: false };

/** The callers set these for the application, by their configuration or by themselves. */
export const FORWARDING = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"]);

/** @throws Error if the text is not one IP address: a list would leave open whose address it is */
export function oneAddress(text: string): string {
  if (isIP(text) === 0) throw new Error("the client's address is not one IP address");
  return text;
}

/** @throws Error unless it is `http` or `https` */
export function knownScheme(text: string): string {
  if (text !== "http" && text !== "https") throw new Error("the scheme is neither http nor https");
  return text;
}

/** A header of this connection, if the client sent it. */
export function hopByHop(name: string, value: string): RawRequest["headers"] {
  return value === "" ? [] : [[name, value]];
}

/** What a header says behind a `=`: some proxies omit headers without a value, and a forgotten one must be noticed. */
export function afterEquals(text: string): string {
  if (!text.startsWith("=")) throw new Error("the value does not begin with `=`");
  return text.slice(1);
}
