import { parsePattern, type SegmentIR } from "../policy/evaluation.ts";
import type { GatewayConfig } from "./schema.ts";

/** The limits of requests to one path, or to all others: milliseconds and bytes. */
export interface Limits {
  readonly upstreamTimeout: number;
  /** Of the whole response. */
  readonly responseTimeout: number;
  readonly requestTimeout: number;
  /** Of gRPC calls and Server-Sent Events. */
  readonly streamIdleTimeout: number;
  readonly websocketIdleTimeout: number;
  readonly requestSize: number;
  readonly responseSize: number;
}

/** An entry of `gateway.routes`, with the limits that it does not change. */
export interface RouteLimits extends Limits {
  readonly segments: readonly SegmentIR[];
}

/** The limits of requests that no route matches. */
export function usualLimits({ gateway }: GatewayConfig): Limits {
  const { performance, security } = gateway;
  return {
    upstreamTimeout: gateway.upstream_timeout,
    responseTimeout: gateway.response_timeout,
    requestTimeout: performance.request_timeout,
    streamIdleTimeout: gateway.stream_idle_timeout,
    websocketIdleTimeout: gateway.websocket_idle_timeout,
    requestSize: security.request_size_limit,
    responseSize: security.response_size_limit,
  };
}

/** The limits of each route, in the order of the file. */
export function routeLimits(config: GatewayConfig): readonly RouteLimits[] {
  const usual = usualLimits(config);
  return config.gateway.routes.map((route) => ({
    segments: parsePattern(route.path, "rest").segments,
    upstreamTimeout: route.upstream_timeout ?? usual.upstreamTimeout,
    responseTimeout: route.response_timeout ?? usual.responseTimeout,
    requestTimeout: route.request_timeout ?? usual.requestTimeout,
    streamIdleTimeout: route.idle_timeout ?? usual.streamIdleTimeout,
    websocketIdleTimeout: route.idle_timeout ?? usual.websocketIdleTimeout,
    requestSize: route.request_size_limit ?? usual.requestSize,
    responseSize: route.response_size_limit ?? usual.responseSize,
  }));
}

/** The largest value that any request may have. */
export function largest(config: GatewayConfig, limit: keyof Limits): number {
  return Math.max(usualLimits(config)[limit], ...routeLimits(config).map((route) => route[limit]));
}
