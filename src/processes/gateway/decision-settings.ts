import type { GatewayConfig } from "../../config/index.ts";
import type { DeciderDependencies } from "../../decision/decide/decide.ts";
import { createForgedHeaders, withoutHeaders } from "../../decision/headers/forged-headers.ts";
import { createOriginCheck } from "../../decision/decide/origin-check.ts";
import { forgedHeadersOf } from "./provisions.ts";
import { SWITCHES, type RawRequest } from "../../request/index.ts";

export type DecisionSettings = Pick<
  DeciderDependencies,
  "frontProxy" | "cookie" | "originCheck" | "switchedOff" | "environment" | "limits"
>;

/** What decisions depend on besides policies, callers and attribute sources: the gateway's, and those of `policy explain`. */
export function decisionSettings({ gateway, identity, policies }: GatewayConfig): DecisionSettings {
  return {
    frontProxy: { trustedProxies: gateway.trusted_proxies, backends: gateway.backends },
    ...(identity.cookie_origin_check && { originCheck: createOriginCheck(identity.trusted_origins) }),
    ...(identity.cookie !== undefined && { cookie: identity.cookie }),
    switchedOff: new Set(SWITCHES.filter((name) => gateway.accept_ambiguous.includes(name))),
    environment: policies.environment,
    limits: { response: gateway.security.response_size_limit, message: gateway.security.message_size_limit },
  };
}

/** Which headers clients may not send. */
export interface HeaderHygiene {
  /** Names of those that a client has made up. */
  readonly forgedHeaders: (headers: RawRequest["headers"]) => readonly string[];
  /** The request as rules see it. */
  readonly withoutForged: (request: RawRequest, forged: readonly string[]) => RawRequest;
}

export function headerHygiene(config: GatewayConfig): HeaderHygiene {
  const refusesUnderscores = !config.gateway.accept_ambiguous.includes("underscore_header");
  return {
    forgedHeaders: createForgedHeaders(forgedHeadersOf(config)),
    withoutForged: (request, forged) => withoutHeaders(request, forged, refusesUnderscores),
  };
}

/** At most an eighth of what an application takes, unless told otherwise. */
export function connectionsPerUser({ gateway }: GatewayConfig): number {
  const { websocket_connections_per_user: limit, performance } = gateway;
  return limit ?? Math.min(10_000, Math.max(1, Math.floor(performance.connection_pool_size / 8)));
}
