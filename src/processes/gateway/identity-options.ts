import type { GatewayConfig } from "../../config/index.ts";
import type { AlbOptions } from "../../identity/index.ts";

/** The options for verifying tokens. */
export function identityOptions({ gateway, identity, policies }: GatewayConfig) {
  return {
    issuer: identity.issuer,
    audience: identity.audience,
    clientIds: identity.client_ids,
    ...(identity.jwks !== undefined && { jwks: identity.jwks }),
    algorithms: identity.algorithms,
    clockToleranceSeconds: identity.clock_tolerance / 1000,
    cooldownMs: identity.jwks_cooldown,
    refreshIntervalMs: identity.jwks_refresh_interval,
    maxStaleMs: identity.jwks_max_stale,
    // a token without `typ` is a JWT (RFC 7519, section 5.1)
    tokenTypes: identity.token_types.includes("JWT") ? [...identity.token_types, ""] : identity.token_types,
    claims: identity.claims,
    claimLists: identity.claim_lists,
    // 0 applies to decisions only: tokens are still cached, in the default number
    ...(policies.cache_size > 0 && { cacheSize: policies.cache_size }),
    cacheTtlMs: gateway.performance.policy_cache_ttl,
  };
}

/** The options for verifying tokens of AWS load balancers. */
export function albOptions({ identity: { alb } }: GatewayConfig): AlbOptions {
  const { signers, clients, keys_url: keysUrl } = alb;
  return { signers, clients, ...(keysUrl !== undefined && { keysUrl }) };
}
