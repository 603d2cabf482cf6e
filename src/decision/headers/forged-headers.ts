import { HEADER } from "../../envoy-contract.ts";
import { foldHeaderName, isLetterOrDigit, type RawRequest } from "../../request/index.ts";
import { FORWARDING_NAMES } from "./forwarding-headers.ts";
import { FOREIGN_NAMES, FOREIGN_PREFIXES } from "./foreign-headers.ts";

/** Names of headers that no client may use. */
export interface ForgedHeadersOptions {
  /** Headers that tell the application who the caller is, in lower case, including the default ones. */
  readonly names: readonly string[];
  /** Prefixes of such names: an application may read others with the same prefix. */
  readonly prefixes: readonly string[];
  /** Names under the prefixes, and of other products, that clients may use. */
  readonly accepted: readonly string[];
  /** Names of headers from which the gateway itself reads a token; the application gets none of them. */
  readonly read?: readonly string[];
}

/** @param behindEnvoy - default: true */
export type FindForgedHeaders = (headers: RawRequest["headers"], behindEnvoy?: boolean) => readonly string[];

/**
 * Spelled exactly like this, they are read (and then removed) or refused elsewhere; in any other spelling they are
 * disguised.
 */
const READ_ELSEWHERE = [
  "x-user-token",
  "x-backend-url",
  "x-real-ip",
  "x-original-url",
  "x-rewrite-url",
  "x-http-method-override",
  "x-http-method",
  "x-method-override",
  // by them, other proxies describe a request to us, and remove the client's
  "x-original-request",
  "x-original-address",
  "x-original-connection",
  "x-original-upgrade",
  "x-original-protocol",
  // our Envoy's copy of x-backend-url, used to select the route again after this answer; Envoy then removes it
  HEADER.backend,
  // its copies of others, which it removes, too
  HEADER.transferEncoding,
  HEADER.forwardedProto,
];
const OUR_PREFIX = "x-gatehouse-";
/** Spelled correctly, they are left to Envoy, which removes what clients send under `x-envoy-`, and to `front-proxy.ts`. */
const PROXY_PREFIXES = ["x-envoy-", "x-forwarded-"];
/** What an application behind Envoy believes: where the request is from, and its path before Envoy changed it. */
const FROM_ENVOY = ["x-envoy-internal", "x-envoy-original-path", "x-envoy-original-host"];
const WELL_SPELLED = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const MAX_KNOWN = 1000;
const MAX_KNOWN_LENGTH = 64;

const NONE: readonly string[] = Object.freeze([]);

/**
 * @returns a function that finds headers that a client may not send, by their names as received (lower case). Names are
 *   equal if their letters and digits are: `X.User.Id` and `xuserid` are `x-user-id`. Where no Envoy is in front, nothing else
 *   has removed those under `x-envoy-`.
 */
export function createForgedHeaders({
  names,
  prefixes,
  accepted,
  read = [],
}: ForgedHeadersOptions): FindForgedHeaders {
  const forged = new Set(names.map(foldHeaderName));
  const apart = [...READ_ELSEWHERE, ...FORWARDING_NAMES, ...read];
  const disguised = new Set([...apart, ...FOREIGN_NAMES].map(foldHeaderName));
  const spelled = new Set([...apart, ...accepted]);
  const fromEnvoy = new Set(FROM_ENVOY.filter((name) => !accepted.includes(name)));
  const forgedPrefixes = [OUR_PREFIX, ...FOREIGN_PREFIXES, ...prefixes].map(foldHeaderName);
  const proxyPrefixes = PROXY_PREFIXES.map((prefix) => [prefix, foldHeaderName(prefix)] as const);
  // most headers are ruled out by their first two characters
  const beginnings = new Set(
    [...forged, ...disguised, ...forgedPrefixes, ...proxyPrefixes.map(([, folded]) => folded)].flatMap(
      beginningsOf,
    ),
  );

  const isForged = (name: string): boolean => {
    const folded = foldHeaderName(name);
    if (forged.has(folded)) return true;
    if (spelled.has(name)) return false;
    if (disguised.has(folded) || forgedPrefixes.some((prefix) => folded.startsWith(prefix))) return true;
    return proxyPrefixes.some(
      ([prefix, foldedPrefix]) =>
        folded.startsWith(foldedPrefix) && !(name.startsWith(prefix) && WELL_SPELLED.test(name)),
    );
  };

  // clients repeat the same names; one who invents names loses only this cache
  const known = new Map<string, boolean>();
  const isKnownForged = (name: string): boolean => {
    let answer = known.get(name);
    if (answer === undefined) {
      answer = isForged(name);
      if (known.size >= MAX_KNOWN) known.clear();
      if (name.length <= MAX_KNOWN_LENGTH) known.set(name, answer);
    }
    return answer;
  };

  return (headers, behindEnvoy = true) => {
    let found: string[] | undefined;
    for (const [name] of headers) {
      const first = name.charCodeAt(0);
      const second = name.charCodeAt(1);
      if (isLetterOrDigit(first) && isLetterOrDigit(second) && !beginnings.has(first * SECOND + second))
        continue;
      if (!isKnownForged(name) && (behindEnvoy || !fromEnvoy.has(name))) continue;
      found ??= [];
      if (!found.includes(name)) found.push(name);
    }
    return found ?? NONE;
  };
}

/** Characters of header names are ASCII. */
const SECOND = 128;
const LETTERS_AND_DIGITS = Array.from("abcdefghijklmnopqrstuvwxyz0123456789", (letter) =>
  letter.charCodeAt(0),
);

/** The first two characters of a folded name, as one number; every possible pair if it has only one character. */
function beginningsOf(folded: string): readonly number[] {
  const first = folded.charCodeAt(0) * SECOND;
  return folded.length > 1
    ? [first + folded.charCodeAt(1)]
    : LETTERS_AND_DIGITS.map((second) => first + second);
}

/** The request without these headers: rules must not read what the application does not get. */
export function withoutHeaders(request: RawRequest, names: readonly string[]): RawRequest {
  if (names.length === 0) return request;
  const headers = request.headers.filter(([name]) => !names.includes(name));
  return { ...request, headers, removed: names };
}
