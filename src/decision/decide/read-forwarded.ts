import { readHost, type ForwardedHeader, type RawRequest } from "../../request/index.ts";
import { readNode } from "./addresses.ts";
import { clientAddress, type ClientAddress, type ProxyTrust } from "./client-address.ts";

/** What trusted proxies say about a request as it was before they forwarded it. */
export interface Forwarded {
  readonly client: Extract<ClientAddress, { ok: true }>;
  readonly scheme?: "http" | "https";
  /** Host and port as sent. */
  readonly host?: string;
}

export type ForwardedReading =
  ({ readonly ok: true } & Forwarded) | { readonly ok: false; readonly detail: string };

/** The request as the proxy sent it. */
interface SentByProxy {
  readonly headers: RawRequest["headers"];
  /** Values of X-Forwarded-Proto. */
  readonly schemes: readonly string[];
}

/** Traefik calls the scheme of a WebSocket handshake `wss`. */
const SCHEMES: ReadonlyMap<string, "http" | "https"> = new Map([
  ["http", "http"],
  ["https", "https"],
  ["ws", "http"],
  ["wss", "https"],
]);

/**
 * Reads the headers that trusted proxies set. Values that contradict each other are refused: one of them is from the
 * client.
 *
 * @param peer - address of a trusted proxy
 * @param believed - the headers that proxies set; others may be the client's
 */
export function readForwarded(
  { headers, schemes: sentSchemes }: SentByProxy,
  peer: string,
  believed: ReadonlySet<ForwardedHeader>,
  trust: ProxyTrust,
): ForwardedReading {
  const valuesOf = (name: ForwardedHeader) => (believed.has(name) ? listOf(headers, name) : []);
  const protos = believed.has("x-forwarded-proto") ? sentSchemes.flatMap(elementsOf) : [];
  const chain = valuesOf("x-forwarded-for");
  const elements = readElements(believed.has("forwarded") ? joined(headers, "forwarded") : "");
  if (elements === undefined) return refused("forwarded", "the value is malformed");
  const nodes = elements.map((element) => element.get("for") ?? "unknown");
  if (chain.length > 0 && nodes.length > 0 && !isSameChain(chain, nodes))
    return refused("forwarded", "the addresses differ from those of `x-forwarded-for`");
  const client = clientAddress(peer, chain.length > 0 ? chain : nodes, trust);
  if (!client.ok) return refused(chain.length > 0 ? "x-forwarded-for" : "forwarded", client.detail);
  // of the proxy that received the request from the client
  const outermost = elements[Math.max(0, client.index)];
  const scheme = schemeOf([...protos, ...listed(outermost?.get("proto"))]);
  if (scheme === "contradictory") return refused("x-forwarded-proto", "the schemes differ");
  const hosts = new Set(
    [...valuesOf("x-forwarded-host"), ...listed(outermost?.get("host"))].map((host) => host.toLowerCase()),
  );
  const [host] = hosts;
  if (hosts.size > 1) return refused("x-forwarded-host", "the hosts differ");
  if (host !== undefined && !readHost(host).valid)
    return refused("x-forwarded-host", "the value is not a valid host");
  return { ok: true, client, ...(scheme && { scheme }), ...(host !== undefined && { host }) };
}

function refused(name: ForwardedHeader, detail: string): ForwardedReading {
  return { ok: false, detail: `the header \`${name}\`: ${detail}` };
}

/** A scheme that is not one of HTTP counts as absent. */
function schemeOf(values: readonly string[]): "http" | "https" | "contradictory" | undefined {
  const schemes = new Set(values.map((value) => SCHEMES.get(value.toLowerCase())));
  return schemes.size > 1 ? "contradictory" : [...schemes][0];
}

/** The elements of all headers of this name. Empty ones, which RFC 9110, section 5.6.1.2, allows, are left out. */
function listOf(headers: RawRequest["headers"], wanted: string): readonly string[] {
  return headers.filter(([name]) => name === wanted).flatMap(([, value]) => elementsOf(value));
}

function elementsOf(value: string): readonly string[] {
  return value
    .split(",")
    .map((element) => element.trim())
    .filter((element) => element !== "");
}

function joined(headers: RawRequest["headers"], wanted: string): string {
  return headers
    .filter(([name]) => name === wanted)
    .map(([, value]) => value)
    .join(",");
}

function listed(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

function isSameChain(one: readonly string[], other: readonly string[]): boolean {
  return (
    one.length === other.length &&
    one.every((text, index) => (readNode(text) ?? text) === (readNode(other[index] ?? "") ?? other[index]))
  );
}

/** RFC 7239, section 4: a name, and a token or a quoted string; colons and brackets are often left unquoted. */
const PAIR = /^[ \t]*([!#$%&'*+\-.^_`|~0-9a-z]+)=(?:([!#$%&'*+\-.^_`|~0-9a-z:[\]]+)|"([^"\\]*)")[ \t]*$/i;

/** @returns the elements of Forwarded, or `undefined` if the value is malformed */
function readElements(text: string): readonly ReadonlyMap<string, string>[] | undefined {
  if (text.trim() === "") return [];
  const elements: Map<string, string>[] = [];
  for (const part of outsideQuotes(text, ",")) {
    const element = new Map<string, string>();
    for (const pair of outsideQuotes(part, ";")) {
      const [, name, token, quoted = ""] = PAIR.exec(pair) ?? [];
      if (name === undefined || element.has(name.toLowerCase())) return undefined;
      element.set(name.toLowerCase(), token ?? quoted);
    }
    elements.push(element);
  }
  return elements;
}

/** Splits at a character outside of quoted strings. An odd quote is found by whoever reads the parts. */
function outsideQuotes(text: string, separator: "," | ";"): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '"') quoted = !quoted;
    else if (text[index] === separator && !quoted) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)];
}
