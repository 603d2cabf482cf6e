import type { RateBudget } from "../../audit/rate-budget.ts";
import { extractToken, type TokenVerifier } from "../../identity/index.ts";
import type { RawRequest } from "../../request/index.ts";
import type { FrontProxy } from "../decide/front-proxy.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AccessRequest, Denial } from "../types.ts";

export interface LoadSheddingOptions {
  readonly verifier: Pick<TokenVerifier, "cached">;
  /** Name of a cookie that may hold the token. */
  readonly cookie?: string;
  readonly frontProxy: (raw: RawRequest, peer: string) => FrontProxy;
  /** What verifications that fail are paid from. */
  readonly failures: Pick<RateBudget, "isSpent">;
  readonly snapshot: () => Snapshot | undefined;
}

/** Where a token may be; src/identity/credential-patterns.ts says the same to Envoy. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "x-user-token", "cookie"]);

/**
 * @returns what says, before anything is done for a request, whether it is denied because others wait: one with a token
 * that is known to be bad, or can be none; and where many tokens have turned out bad of late, one whose token is not known. Who
 * is known to have a good token is never denied, and nor is who sends none: Envoy has those wait by themselves
 * (src/gateway/clusters.ts), and a process that others leave little of the processor seems late, too.
 */
export function createLoadShedding({
  verifier,
  cookie,
  frontProxy,
  failures,
  snapshot,
}: LoadSheddingOptions): (access: AccessRequest) => Denial | undefined {
  const mayPass = (headers: RawRequest["headers"], trustedProxy: boolean): boolean => {
    const found = extractToken(credentialsOf(headers), {
      trustedProxy,
      ...(cookie !== undefined && { cookie }),
    });
    // Envoy cannot tell who the peer is, and takes anybody's X-User-Token for a credential
    if (found.kind === "none") return !headers.some(([name]) => name === "x-user-token");
    if (found.kind === "malformed") return false;
    return verifier.cached(found.token)?.ok ?? !failures.isSpent();
  };
  return ({ raw, peer }) => {
    const { trusted, clientIp } = frontProxy(raw, peer);
    if (mayPass(raw.headers, trusted)) return undefined;
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

function credentialsOf(headers: RawRequest["headers"]): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, value] of headers) if (CREDENTIALS.has(name)) (found[name] ??= []).push(value);
  return found;
}
