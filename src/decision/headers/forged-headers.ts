import { HEADER } from "../../envoy-contract.ts";
import { foldHeaderName, isLetterOrDigit, type RawRequest } from "../../request/index.ts";
import { FOREIGN_NAMES, FOREIGN_PREFIXES } from "./foreign-headers.ts";

/** The header names that clients may not use. */
export interface ForgedHeadersOptions {
  /** Identity headers for the application, in lower case, including the default ones. */
  readonly names: readonly string[];
  /** Prefixes of identity headers: an application may read other names with them. */
  readonly prefixes: readonly string[];
  /** Names under the prefixes, and of other products, that clients may use. */
  readonly accepted: readonly string[];
}

/** In this exact spelling they are read (and then removed) or refused elsewhere. Any other spelling is a disguise. */
const READ_ELSEWHERE = [
  "x-user-token",
  "x-backend-url",
  "x-real-ip",
  "x-original-url",
  "x-rewrite-url",
  "x-http-method-override",
  "x-http-method",
  "x-method-override",
  // our copy of x-backend-url, by which Envoy selects the route again after this answer, and which it then removes
  HEADER.backend,
];
const OUR_PREFIX = "x-gatehouse-";
/**
 * Envoy handles these in their regular spelling. It removes `x-envoy-` headers from clients, replaces
 * `x-forwarded-proto` and appends to `x-forwarded-for`. Others of that kind reach the application as they were sent.
 */
const PROXY_PREFIXES = ["x-envoy-", "x-forwarded-"];
const WELL_SPELLED = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const MAX_KNOWN = 1000;
const MAX_KNOWN_LENGTH = 64;

const NONE: readonly string[] = Object.freeze([]);

/**
 * @returns a function that finds the headers that a client may not send, by their names as sent (lower case). Names are
 *   equal if their letters and digits are: `X.User.Id` and `xuserid` are `x-user-id`.
 */
export function createForgedHeaders({
  names,
  prefixes,
  accepted,
}: ForgedHeadersOptions): (headers: RawRequest["headers"]) => readonly string[] {
  const forged = new Set(names.map(foldHeaderName));
  const disguised = new Set([...READ_ELSEWHERE, ...FOREIGN_NAMES].map(foldHeaderName));
  const spelled = new Set([...READ_ELSEWHERE, ...accepted]);
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

  // clients repeat the same names; a client that invents names only loses this cache
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

  return (headers) => {
    let found: string[] | undefined;
    for (const [name] of headers) {
      const first = name.charCodeAt(0);
      const second = name.charCodeAt(1);
      if (isLetterOrDigit(first) && isLetterOrDigit(second) && !beginnings.has(first * SECOND + second))
        continue;
      if (!isKnownForged(name)) continue;
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

/** The first two characters of a folded name, as one number; any two that begin so where it has only one. */
function beginningsOf(folded: string): readonly number[] {
  const first = folded.charCodeAt(0) * SECOND;
  return folded.length > 1
    ? [first + folded.charCodeAt(1)]
    : LETTERS_AND_DIGITS.map((second) => first + second);
}

/**
 * The request without these headers: rules must not read what the application does not get.
 *
 * @param refusesUnderscores - names with an underscore are kept, so that the request is refused for them as for any
 *   other such name
 */
export function withoutHeaders(
  request: RawRequest,
  names: readonly string[],
  refusesUnderscores: boolean,
): RawRequest {
  const removed = refusesUnderscores ? names.filter((name) => !name.includes("_")) : names;
  if (removed.length === 0) return request;
  return { ...request, headers: request.headers.filter(([name]) => !removed.includes(name)) };
}
