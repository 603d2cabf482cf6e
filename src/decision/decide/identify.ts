import { extractToken } from "../../identity/index.ts";
import type { Identity, IdentityFailure, IdentityResult, TokenVerifier } from "../../identity/types.ts";
import type { StateReason } from "../../reasons.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import type { StepUp } from "../../customer-state/index.ts";

/** Who is asking, or why nobody is known. Neither: the request carries no token. */
export interface Caller {
  readonly identity?: Identity;
  /** The token, good or bad, comes from a cookie, which is only there, rather than being presented on purpose. */
  readonly byCookie?: true;
  /** Why the cookie does not count for this request, whatever is in it. */
  readonly cookieWithheld?: string;
  readonly failure?: CallerFailure;
}

/** Why somebody is not known who ought to be. */
export interface CallerFailure {
  readonly reason: IdentityFailure | StateReason | "ORIGIN_NOT_TRUSTED";
  readonly detail: string;
  /** The request is denied whatever its rule reads. */
  readonly final: boolean;
  /** Which sign-in would do, where one would. */
  readonly stepUp?: StepUp;
}

/** Finds the caller of a request; at once where the token is known already. Never rejects. */
export type Identify = (request: CanonicalRequest, trustedProxy: boolean) => Caller | Promise<Caller>;

export interface IdentifyOptions {
  /** Name of a cookie that may hold the token. */
  readonly cookie?: string;
  /** Called when a token was verified in vain. */
  readonly failed?: () => void;
}

/**
 * @returns identification by token. A bearer token is presented on purpose (RFC 6750, section 3.1): when it is bad, the
 * request is. A cookie is only there, and keys may only be late: these two matter where the rule asks who it is.
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
      // malformed without the cookie, too: it was presented on purpose
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
