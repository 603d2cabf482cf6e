import { originOf, readOrigin, type CanonicalRequest } from "../../request/index.ts";
import { quotedAscii } from "../../text/index.ts";
import type { Caller } from "./identify.ts";
import { isWebsocketUpgrade } from "./evaluate-upgrade.ts";
import type { AccessRequest } from "../types.ts";

/** RFC 9110, section 9.2.1: by these a client asks for no change. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** A request whose origin is asked for. */
export interface OriginatingRequest {
  readonly request: CanonicalRequest;
  /** Host or :authority as received. */
  readonly host: string;
  readonly trustedPeer: boolean;
}

/** @returns what is wrong with the origin of a request; `undefined` where nothing is, or nothing depends on it */
export type OriginCheck = (asked: OriginatingRequest) => string | undefined;

/**
 * A browser sends its cookies with whatever any site has it send, so a cookie says who the user is and not that the user
 * wanted the request. For requests that change something, and for WebSocket handshakes, which browsers let every site
 * make and read, the origin has to say that (decision 0027).
 *
 * @param trustedOrigins - further origins whose pages may use the cookie, as `readOrigin` takes them
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
    // `none`: the browser itself asks, for the user or to load something again; whose request it was, the origin says
    if (sites !== undefined && !(sites.length === 1 && sites[0] === "none"))
      return `sec-fetch-site is ${quotedAscii(sites.join(", "))}${text === undefined ? "" : `, origin ${quotedAscii(text)}`}`;
    if (text === undefined) return "the request has no header `origin`";
    const own = ownSchemes(scheme, trustedPeer).map((one) => originOf(one, host));
    return origin !== undefined && own.includes(origin) ? undefined : `origin is ${quotedAscii(text)}`;
  };
}

/** A front proxy may end TLS, and only the proxy knows what the browser spoke with it. */
function ownSchemes(scheme: string, trustedPeer: boolean): readonly string[] {
  return trustedPeer && scheme === "http" ? ["http", "https"] : [scheme];
}

/**
 * @param readings - of the request: what any of them must not use the cookie for, none does
 * @returns the caller as it was, or, where a cookie alone identifies it and the origin is not right, one that is not
 * identified: the cookie counts as if it were not there (decision 0002)
 */
export function requireOrigin(
  caller: Caller,
  check: OriginCheck | undefined,
  readings: readonly CanonicalRequest[],
  { raw }: Pick<AccessRequest, "raw">,
  trustedPeer: boolean,
): Caller {
  if (caller.byCookie !== true || check === undefined) return caller;
  let detail: string | undefined;
  for (const request of readings) detail ??= check({ request, host: raw.host, trustedPeer });
  if (detail === undefined) return caller;
  // a cookie that is good elsewhere may stand beside one that is not, and keys may only be late
  const failure = caller.failure ?? { reason: "ORIGIN_NOT_TRUSTED", detail, final: false };
  return { failure, cookieWithheld: detail };
}
