import {
  extractToken,
  isAmbient,
  type ExtractedToken,
  type PresentedToken,
  type TokenSources,
} from "../../identity/index.ts";
import type { Identity, IdentityFailure, IdentityResult, TokenVerifier } from "../../identity/types.ts";
import type { StateReason } from "../../reasons.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import type { StepUp } from "../../customer-state/index.ts";
import { networkOf } from "./addresses.ts";

/** The caller, or why it is unknown. Neither if the request carries no token. */
export interface Caller {
  readonly identity?: Identity;
  /** The token, valid or not, comes from a cookie, or from a header derived from one: a browser sends it automatically. */
  readonly byCookie?: true;
  /** The token comes from the first message of a connection, after which nobody asks again. */
  readonly byMessage?: true;
  /** Why the cookie does not count for this request, whatever it contains. */
  readonly cookieWithheld?: string;
  readonly failure?: CallerFailure;
}

/** Why a caller with credentials is not identified. */
export interface CallerFailure {
  readonly reason: IdentityFailure | StateReason | "ORIGIN_NOT_TRUSTED";
  readonly detail: string;
  /** The request is denied whatever its rule reads. */
  readonly final: boolean;
  /** The sign-in that would be sufficient, if one would. */
  readonly stepUp?: StepUp;
}

/** Identifies the caller of a request; synchronously if the token is cached. Never rejects. */
export type Identify = (
  request: CanonicalRequest,
  trustedProxy: boolean,
  clientIp: string,
  ofConnection?: ExtractedToken,
) => Caller | Promise<Caller>;

export interface IdentifyOptions extends TokenSources {
  /** Chooses the verifier by where a token was, and by its form. Default: the issuer's. */
  readonly verifierOf?: (found: PresentedToken) => TokenVerifier;
  /** Called when verification of a token failed. */
  readonly failed?: () => void;
}

/**
 * @returns identification by token. A bearer token is presented on purpose (RFC 6750, section 3.1): a bad one makes the
 *   request bad. A cookie is sent automatically, missing keys may arrive soon, and a token of the application's own is not
 *   for us: these matter only if the rule reads the identity.
 */
export function createIdentify(
  verifier: TokenVerifier,
  { failed, verifierOf = () => verifier, ...sources }: IdentifyOptions = {},
): Identify {
  const { cookie, header, alb, ...onPurpose } = sources;
  const verify = async (found: PresentedToken, clientIp: string): Promise<IdentityResult> => {
    const result = await verifierOf(found).verify(found.token, networkOf(clientIp));
    if (!result.ok && !NOT_THE_CALLERS.has(result.reason)) failed?.();
    return result;
  };
  return (request, trustedProxy, clientIp, ofConnection) => {
    const token = extractToken(request.headers, { trustedProxy, ofConnection, ...sources });
    if (token.kind === "none") return {};
    if (token.kind === "foreign") {
      const detail = "the bearer token is opaque, or names another issuer";
      return { failure: { reason: "TOKEN_FOREIGN", detail, final: false } };
    }
    if (token.kind === "malformed") {
      // a token that was presented on purpose is in doubt, whatever browsers add to it
      const { kind } = extractToken(request.headers, { trustedProxy, ofConnection, ...onPurpose });
      const final = kind !== "none" && kind !== "foreign";
      return {
        failure: { reason: "TOKEN_MALFORMED", detail: token.detail, final },
        ...(!final && { byCookie: true }),
      };
    }
    const toCaller = (result: IdentityResult): Caller => {
      const byMessage = token.kind === "connection";
      const how = {
        ...(isAmbient(token.kind) && { byCookie: true as const }),
        ...(byMessage && { byMessage }),
      };
      if (result.ok) return { identity: result.identity, ...how };
      const final = byMessage || (!isAmbient(token.kind) && !NOT_THE_CALLERS.has(result.reason));
      return { failure: { reason: result.reason, detail: result.detail, final }, ...how };
    };
    const known = verifierOf(token).cached(token.token);
    return known === undefined ? verify(token, clientIp).then(toCaller) : toCaller(known);
  };
}

/** What keeps a good token from being verified. */
const NOT_THE_CALLERS: ReadonlySet<IdentityFailure> = new Set(["IDENTITY_NOT_READY", "API_KEY_NOT_CHECKED"]);
