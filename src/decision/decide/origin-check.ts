import { originOf, readOrigin, type CanonicalRequest } from "../../request/index.ts";
import { quotedAscii } from "../../text/index.ts";
import type { Caller } from "./identify.ts";
import { isWebsocketUpgrade } from "./evaluate-upgrade.ts";

/** RFC 9110, section 9.2.1: safe methods, which request no change. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** A request whose origin is checked. */
export interface OriginatingRequest {
  readonly request: CanonicalRequest;
  /** Host or :authority as the client sent it, with its port. */
  readonly host: string;
  readonly trustedPeer: boolean;
}

/** @returns what is wrong with the origin of a request; `undefined` if nothing is, or nothing depends on it */
export type OriginCheck = (asked: OriginatingRequest) => string | undefined;

/**
 * A browser sends cookies with requests that any site causes, so a cookie identifies the user but does not prove that
 * the user intended the request. Requests that change something, and WebSocket handshakes, which browsers let every
 * site open and read, must therefore come from an allowed origin (decision 0027).
 *
 * @param trustedOrigins - further origins whose pages may use the cookie, in the form that `readOrigin` accepts
 */
export function createOriginCheck(trustedOrigins: readonly string[]): OriginCheck {
  const trusted = new Set(trustedOrigins.map(readOrigin));
  trusted.delete(undefined);

  return ({ request, host, trustedPeer }) => {
    const { method, headers, scheme } = request;
    if (SAFE_METHODS.has(method) && !isWebsocketUpgrade(request)) return undefined;
    const sites = headers["sec-fetch-site"];
    const origins = headers["origin"];
    if (origins !== undefined && origins.length > 1) return "the header `origin` is repeated";
    const [text] = origins ?? [];
    const origin = text === undefined ? undefined : readOrigin(text);
    if (origin !== undefined && trusted.has(origin)) return undefined;
    if (sites?.length === 1 && sites[0] === "same-origin") return undefined;
    // `none`: the browser itself sends the request, for the user or to reload; the origin shows where it came from
    if (sites !== undefined && !(sites.length === 1 && sites[0] === "none"))
      return `sec-fetch-site is ${quotedAscii(sites.join(", "))}${text === undefined ? "" : `, origin ${quotedAscii(text)}`}`;
    if (text === undefined) return "the request has no `origin` header";
    const own = ownSchemes(scheme, trustedPeer).map((one) => originOf(one, host));
    return origin !== undefined && own.includes(origin) ? undefined : `origin is ${quotedAscii(text)}`;
  };
}

/** A front proxy may terminate TLS and not say so. */
function ownSchemes(scheme: string, trustedPeer: boolean): readonly string[] {
  return trustedPeer && scheme === "http" ? ["http", "https"] : [scheme];
}

/**
 * @param readings - of the request; if any of them must not use the cookie, none may
 * @returns the caller unchanged; or, if only a cookie identifies it and the origin is not allowed, an unidentified one,
 *   as if there were no cookie (decision 0002)
 */
export function requireOrigin(
  caller: Caller,
  check: OriginCheck | undefined,
  readings: readonly CanonicalRequest[],
  asked: Omit<OriginatingRequest, "request">,
): Caller {
  if (caller.byCookie !== true || check === undefined) return caller;
  let detail: string | undefined;
  for (const request of readings) detail ??= check({ request, ...asked });
  if (detail === undefined) return caller;
  // a cookie that is good elsewhere may come next to a bad one, and missing keys may arrive soon
  const failure = caller.failure ?? { reason: "ORIGIN_NOT_TRUSTED", detail, final: false };
  return { failure, cookieWithheld: detail };
}
