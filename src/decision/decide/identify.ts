import { extractToken } from "../../identity/index.ts";
import type { Identity, IdentityFailure, IdentityResult, TokenVerifier } from "../../identity/types.ts";
import type { StateReason } from "../../reasons.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import type { StepUp } from "../../customer-state/index.ts";

/** The caller, or why it is unknown. Neither if the request carries no token. */
export interface Caller {
  readonly identity?: Identity;
  /** The token, valid or not, comes from a cookie, which a browser sends automatically. */
  readonly byCookie?: true;
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
export type Identify = (request: CanonicalRequest, trustedProxy: boolean) => Caller | Promise<Caller>;

export interface IdentifyOptions {
  /** Name of a cookie that may contain the token. */
  readonly cookie?: string;
  /** Called when verification of a token failed. */
  readonly failed?: () => void;
}

/**
 * @returns identification by token. A bearer token is presented on purpose (RFC 6750, section 3.1): a bad one makes the
 *   request bad. A cookie is sent automatically, and missing keys may arrive soon: these two matter only if the rule
 *   reads the identity.
 */
export function createIdentify(
  verifier: TokenVerifier,
  { failed, ...options }: IdentifyOptions = {},
): Identify {
  const verify = async (token: string): Promise<IdentityResult> => {
    const result = await verifier.verify(token);
    if (!result.ok && result.reason !== "IDENTITY_NOT_READY") failed?.();
    return result;
  };
  return (request, trustedProxy) => {
    const token = extractToken(request.headers, { trustedProxy, ...options });
    if (token.kind === "none") return {};
    if (token.kind === "malformed") {
      // malformed even without the cookie: it was presented on purpose
      const final = extractToken(request.headers, { trustedProxy }).kind === "malformed";
      return {
        failure: { reason: "TOKEN_MALFORMED", detail: token.detail, final },
        ...(!final && { byCookie: true }),
      };
    }
    const toCaller = (result: IdentityResult): Caller => {
      const cookie = token.kind === "cookie" && { byCookie: true as const };
      if (result.ok) return { identity: result.identity, ...cookie };
      const final = token.kind !== "cookie" && result.reason !== "IDENTITY_NOT_READY";
      return { failure: { reason: result.reason, detail: result.detail, final }, ...cookie };
    };
    const known = verifier.cached(token.token);
    return known === undefined ? verify(token.token).then(toCaller) : toCaller(known);
  };
}
