import type { RateBudget } from "../../runtime/rate-budget.ts";
import {
  credentialPatterns,
  extractToken,
  type PresentedToken,
  type TokenSources,
  type TokenVerifier,
} from "../../identity/index.ts";
import type { RawRequest } from "../../request/index.ts";
import type { ReadFrontProxy } from "../decide/front-proxy.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AccessRequest, Denial } from "../types.ts";

export interface LoadSheddingOptions {
  readonly verifier: Pick<TokenVerifier, "cached">;
  /** Chooses the verifier. Default: always the same. */
  readonly verifierOf?: (found: PresentedToken) => Pick<TokenVerifier, "cached">;
  /** Name of a cookie that may contain the token. */
  readonly cookie?: string;
  /** Where else it may be. */
  readonly tokens?: TokenSources;
  readonly frontProxy: ReadFrontProxy;
  /** The budget for failing verifications. */
  readonly failures: Pick<RateBudget, "isSpent">;
  readonly snapshot: () => Snapshot | undefined;
}

/**
 * @returns a function that tells, before any work on a request, whether to deny it because others are waiting. It
 *   denies a request whose token is known to be bad or cannot be a token; and, if many tokens were bad recently, one
 *   whose token is unknown. It never denies a known good token or a request without a token: Envoy queues the latter
 *   separately (src/gateway/clusters.ts), and a process that gets little CPU time also seems late.
 */
export function createLoadShedding({
  verifier,
  verifierOf = () => verifier,
  cookie,
  tokens = {},
  frontProxy,
  failures,
  snapshot,
}: LoadSheddingOptions): (access: AccessRequest) => Denial | undefined {
  const sources = { ...tokens, ...(cookie !== undefined && { cookie }) };
  // where a token may be: Envoy has the same list
  const names = new Set(credentialPatterns({ trustedProxy: true, ...sources }).map(({ header }) => header));
  const mayPass = (headers: RawRequest["headers"], trustedProxy: boolean): boolean => {
    const found = extractToken(credentialsOf(headers, names), { trustedProxy, ...sources });
    // Envoy cannot check the peer, and treats X-User-Token from anybody as a credential
    if (found.kind === "none") return !headers.some(([name]) => name === "x-user-token");
    if (found.kind === "malformed") return false;
    const known = found.kind === "foreign" ? undefined : verifierOf(found).cached(found.token);
    return known?.ok ?? !failures.isSpent();
  };
  return (access) => {
    const { trusted, clientIp } = frontProxy(access);
    if (mayPass(access.raw.headers, trusted)) return undefined;
    const current = snapshot();
    return {
      verdict: "DENY",
      reason: "OVERLOADED",
      clientIp,
      trustedPeer: trusted,
      accepted: [],
      ...(current && { snapshot: current }),
    };
  };
}

function credentialsOf(
  headers: RawRequest["headers"],
  names: ReadonlySet<string>,
): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, value] of headers) if (names.has(name)) (found[name] ??= []).push(value);
  return found;
}
