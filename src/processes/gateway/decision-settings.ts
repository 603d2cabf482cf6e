import {
  routeLimits,
  tokenSources,
  usualLimits,
  type GatewayConfig,
  type Limits,
} from "../../config/index.ts";
import type { FrontProxyOptions } from "../../decision/decide/front-proxy.ts";
import type { DeciderDependencies } from "../../decision/decide/decide.ts";
import { createOriginCheck } from "../../decision/decide/origin-check.ts";
import { acceptedBy } from "./accepted-ambiguities.ts";

export type DecisionSettings = Pick<
  DeciderDependencies,
  "frontProxy" | "cookie" | "tokens" | "originCheck" | "accept" | "environment" | "limits" | "routes"
>;

/** Settings of decisions besides policies, callers and attribute sources, for the gateway and for `policy explain`. */
export function decisionSettings(config: GatewayConfig): DecisionSettings {
  const { gateway, identity, policies } = config;
  return {
    frontProxy: frontProxyOptions({ gateway, identity }),
    ...(identity.cookie_origin_check && { originCheck: createOriginCheck(identity.trusted_origins) }),
    ...(identity.cookie !== undefined && { cookie: identity.cookie }),
    tokens: tokenSources(config),
    accept: acceptedBy(gateway),
    environment: policies.environment,
    limits: { response: gateway.security.response_size_limit, message: gateway.security.message_size_limit },
    routes: {
      usual: inOrder(usualLimits(config)),
      routes: routeLimits(config).map((route) => ({
        segments: route.segments,
        limits: inOrder(route),
        responseSize: route.responseSize,
      })),
    },
  };
}

/** What front proxies may say. */
export function frontProxyOptions({
  gateway,
  identity,
}: Pick<GatewayConfig, "gateway" | "identity">): FrontProxyOptions {
  return {
    trustedProxies: gateway.trusted_proxies,
    backends: gateway.backends,
    forwardedHeaders: gateway.forwarded_headers,
    ...(gateway.trusted_hops !== undefined && { trustedHops: gateway.trusted_hops }),
    clientHeaders: identity.client_headers,
  };
}

function inOrder(limits: Limits): readonly number[] {
  const { upstreamTimeout, responseTimeout, requestTimeout, streamIdleTimeout, websocketIdleTimeout } =
    limits;
  return [
    upstreamTimeout,
    responseTimeout,
    requestTimeout,
    streamIdleTimeout,
    websocketIdleTimeout,
    limits.requestSize,
    limits.responseSize,
  ];
}

/** Default: at most an eighth of an application's connection pool. */
export function connectionsPerUser({ gateway }: GatewayConfig): number {
  const { websocket_connections_per_user: limit, performance } = gateway;
  return limit ?? Math.min(10_000, Math.max(1, Math.floor(performance.connection_pool_size / 8)));
}
