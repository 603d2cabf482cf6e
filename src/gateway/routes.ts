import { availableParallelism } from "node:os";
import { largest, routeLimits, usualLimits, type GatewayConfig, type Limits } from "../config/index.ts";
import {
  BODIES,
  EXTENSION,
  FORWARDED_PROTO,
  HEADER,
  PLAN_VERSION,
  PROXY_PROTOCOL,
  REFUSE,
  REPORTS,
  ROUTE,
} from "../envoy-contract.ts";
import { noCredential } from "./anonymous.ts";
import { backendsOf, EXT_AUTHZ_ANONYMOUS_CLUSTER } from "./clusters.ts";
import type { Backend } from "./clusters.ts";
import { believesHeaders } from "./front-proxies.ts";
import { HSTS_HEADER, overwrite, REQUEST_ID_HEADER, seconds, typed } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import {
  authzService,
  BUFFER,
  bufferOnRoute,
  CONNECTION_BUFFER_BYTES,
  CUSTOM_RESPONSE,
  EXT_AUTHZ,
  EXT_AUTHZ_BODY,
  luaFilters,
  luaName,
  replaceRefused,
  REQUEST_SIZE,
  requestSizeOnRoute,
  UNEXPECTED_BODY,
  type LuaFilter,
} from "./http-filters.ts";
import { heapOf } from "./overload.ts";

const ROUTE_CONFIG_NAME = "gateway";

/**
 * The routes of requests. They do not depend on policies: the service's decision says what a request needs from Envoy (its body
 * in the check, its response processed), so that a new policy set never meets an old route.
 */
export function routeConfiguration(config: GatewayConfig): EnvoyJson {
  const usual = {
    limits: usualLimits(config),
    headers:
      config.gateway.routes.length === 0
        ? []
        : [{ name: HEADER.route, present_match: true, invert_match: true }],
    callers: CALLERS,
  };
  const limited = routeLimits(config).map((limits, index) => ({
    limits,
    headers: [exactly(HEADER.route, String(index))],
    callers: DECIDED,
    own: true as const,
  }));
  const routes = backendsOf(config).flatMap((backend) =>
    [usual, ...limited].flatMap((group) => routesOf(config, backend, group)),
  );
  return {
    name: ROUTE_CONFIG_NAME,
    virtual_hosts: [{ name: "gateway", domains: ["*"], routes: [noTunnels(config), ...routes] }],
    request_headers_to_remove: ["x-backend-url", "x-envoy-external-address", ...Object.values(HEADER)],
    response_headers_to_remove: ["server", REQUEST_ID_HEADER, REFUSE.header, HEADER.origin],
    ...(config.gateway.security.hsts_header ? { response_headers_to_add: [overwrite(HSTS_HEADER)] } : {}),
  };
}

const BUFFER_OFF = typed("envoy.extensions.filters.http.buffer.v3.BufferPerRoute", { disabled: true });

/**
 * Checks of requests without a credential use separate connections with a limited number of concurrent checks, so that a flood
 * of them does not delay callers with a credential. This does not affect the decision.
 */
const CALLERS = ["anonymous", "any"] as const;
type Caller = (typeof CALLERS)[number];
/** After the decision, it no longer matters whether the caller has a credential. */
const DECIDED = ["any"] as const satisfies readonly Caller[];

/** Routes with the same limits. */
interface RouteGroup {
  readonly limits: Limits;
  /** What tells them from other groups. */
  readonly headers: readonly EnvoyJson[];
  readonly callers: readonly Caller[];
  /** They differ from those of the filters. */
  readonly own?: true;
}

function routesOf(config: GatewayConfig, backend: Backend, group: RouteGroup): readonly EnvoyJson[] {
  const kinds = STREAMS.flatMap((stream) => bodyClasses(backend).map((body) => ({ body, stream })));
  return [
    ...group.callers.map((caller) => upgradeRoute(config, backend, group, caller)),
    ...kinds.map((kind) => route(config, backend, group, { ...kind, plan: true, caller: "any" })),
    ...kinds.flatMap((kind) =>
      group.callers.map((caller) => route(config, backend, group, { ...kind, plan: false, caller })),
    ),
  ];
}

function isCaller(config: GatewayConfig, caller: Caller): readonly EnvoyJson[] {
  return caller === "anonymous" ? noCredential(config) : [];
}

/**
 * Tells the service what a route supports: checks with the body, and which version of plans it enforces. A user's own Envoy may
 * support neither; then the service denies requests that need it.
 */
function checkSettings(
  config: GatewayConfig,
  options: { readonly body: boolean; readonly plans: boolean; readonly caller: Caller },
): EnvoyJson {
  const plans = options.plans
    ? { [EXTENSION.plans]: String(PLAN_VERSION), [EXTENSION.reports]: REPORTS.connections }
    : {};
  const { proxy_protocol: proxyProtocol } = config.gateway;
  const all = {
    ...plans,
    ...(believesHeaders(config) && { [EXTENSION.forwardedProto]: FORWARDED_PROTO.copied }),
    ...(proxyProtocol !== "off" && { [EXTENSION.proxyProtocol]: PROXY_PROTOCOL[proxyProtocol] }),
  };
  const [first, second] = options.body
    ? [{ [EXTENSION.body]: BODIES.on_request }, { [EXTENSION.body]: BODIES.handed_over }]
    : [{}, {}];
  const service =
    options.caller === "anonymous" ? { grpc_service: authzService(config, EXT_AUTHZ_ANONYMOUS_CLUSTER) } : {};
  const settings = (extensions: Readonly<Record<string, string>>) =>
    typed("envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute", {
      check_settings: {
        ...(Object.keys(extensions).length === 0 ? {} : { context_extensions: extensions }),
        ...service,
      },
    });
  return {
    [EXT_AUTHZ]: settings({ ...all, ...first }),
    [EXT_AUTHZ_BODY]: settings({ ...all, ...second }),
  };
}

/** Turns off all other filters in Lua, because each costs every request that passes it. */
function onlyLua(config: GatewayConfig, needed: readonly LuaFilter[]): EnvoyJson {
  const off = typed("envoy.extensions.filters.http.lua.v3.LuaPerRoute", { disabled: true });
  const others = luaFilters(config).filter((filter) => !needed.includes(filter));
  return Object.fromEntries(others.map((filter) => [luaName(filter), off]));
}

/** CONNECT is answered at once: after the buffer it would wait for the end of a body that never ends. */
function noTunnels(config: GatewayConfig): EnvoyJson {
  return {
    match: { connect_matcher: {} },
    direct_response: { status: 405 },
    typed_per_filter_config: {
      ...checkSettings(config, { body: false, plans: false, caller: "any" }),
      [BUFFER]: BUFFER_OFF,
      ...onlyLua(config, []),
    },
  };
}

/** Despite its name, it also limits responses. Lua refuses responses over the limit; much larger ones never reach it. */
function heldBytes({ gateway: { security } }: GatewayConfig, { responseSize, requestSize }: Limits): number {
  return Math.max(responseSize, requestSize, security.decision_body_limit, 4 * CONNECTION_BUFFER_BYTES);
}

const UPGRADE = [
  { name: ":method", string_match: { exact: "GET" } },
  { name: "upgrade", string_match: { exact: "websocket", ignore_case: true } },
  { name: "connection", string_match: { contains: "upgrade", ignore_case: true } },
];

/** WebSocket handshakes: what follows is not a body, and may be idle at times. */
function upgradeRoute(
  config: GatewayConfig,
  backend: Backend,
  { limits, headers }: RouteGroup,
  caller: Caller,
): EnvoyJson {
  return {
    match: {
      prefix: "/",
      headers: [...headers, ...choice(backend), ...UPGRADE, ...isCaller(config, caller)],
    },
    route: {
      cluster: backend.upgradeCluster,
      timeout: "0s",
      idle_timeout: seconds(limits.websocketIdleTimeout),
      upgrade_configs: [{ upgrade_type: "websocket" }],
    },
    // Lua cannot see what is spoken upstream
    metadata: { filter_metadata: { [luaName("sockets")]: { [ROUTE.upstream]: upgradeProtocol(backend) } } },
    request_body_buffer_limit: heldBytes(config, limits),
    typed_per_filter_config: {
      ...checkSettings(config, { body: false, plans: true, caller }),
      [BUFFER]: BUFFER_OFF,
      ...onlyLua(config, ["guard_response", "identify", "sockets", "guard_request"]),
    },
  };
}

/** Bytes of unfinished uploads that one thread of Envoy holds: at least one upload is always possible. */
function heldUploads(config: GatewayConfig): number {
  const { upload_memory_limit: limit = heapOf(config) / 4 } = config.gateway.performance;
  return Math.max(Math.floor(limit / availableParallelism()), largest(config, "requestSize"));
}

/** See `Backend.upgradeCluster`. */
function upgradeProtocol({ url }: Backend): string {
  return new URL(url).protocol === "h2c:" ? "HTTP/2" : "HTTP/1.1";
}

/** Kinds of requests by what is known about their bodies. */
interface BodyClass {
  readonly headers: readonly EnvoyJson[];
  /** Buffered, to be measured before anything is forwarded. */
  readonly buffered: boolean;
  /** The service can receive the body. A gRPC call may never end, and contains nothing that a rule could read. */
  readonly readable: boolean;
  /** Bodies are expected, and together limited (envoy/lua/gatehouse/uploads.lua). */
  readonly counted?: true;
  /** Calls that may be silent for long. */
  readonly stream?: true;
}

/** Requests for Server-Sent Events, and all others. */
const STREAMS = [true, false] as const;
const WANTS_EVENTS = {
  name: "accept",
  string_match: { contains: "text/event-stream", ignore_case: true },
};

/** Bodies of known length and gRPC are streamed; a body of unknown length is buffered and measured. */
function bodyClasses(backend: Backend): readonly BodyClass[] {
  const header = (name: string, match: EnvoyJson) => [{ name, ...match }];
  const known = {
    headers: header("content-length", { present_match: true }),
    buffered: false,
    readable: true,
  };
  const grpc = {
    headers: header("content-type", { string_match: { prefix: "application/grpc" } }),
    buffered: false,
    readable: false,
    stream: true as const,
  };
  // they rarely have a body, and counting costs time even if there is none
  const unexpected = {
    headers: header(":method", { string_match: { safe_regex: { regex: "GET|HEAD|OPTIONS" } } }),
    buffered: true,
    readable: true,
  };
  const unknown = { headers: [], buffered: true, readable: true, counted: true as const };
  return [known, ...(backend.http2 ? [grpc] : []), unexpected, unknown];
}

interface RouteKind {
  readonly body: BodyClass;
  readonly stream: boolean;
  /** The decision has a plan: the response may have to be buffered. */
  readonly plan: boolean;
  readonly caller: Caller;
}

function route(
  config: GatewayConfig,
  backend: Backend,
  { limits, headers, own }: RouteGroup,
  { body, stream, plan, caller }: RouteKind,
): EnvoyJson {
  const planned = plan ? [{ name: HEADER.plan, present_match: true }] : [];
  return {
    match: {
      prefix: "/",
      headers: [
        ...headers,
        ...choice(backend),
        ...planned,
        ...(stream ? [WANTS_EVENTS] : []),
        ...body.headers,
        ...isCaller(config, caller),
      ],
    },
    route: {
      cluster: backend.cluster,
      ...(stream || body.stream === true
        ? // no limit on the whole of a stream, but on silence
          { timeout: "0s", idle_timeout: seconds(limits.streamIdleTimeout) }
        : {
            timeout: seconds(limits.responseTimeout),
            retry_policy: { num_retries: 0, per_try_idle_timeout: seconds(limits.upstreamTimeout) },
            ...(own && { idle_timeout: seconds(idleTimeoutOf(limits)) }),
          }),
    },
    ...(plan && { request_body_buffer_limit: heldBytes(config, limits) }),
    ...(body.counted && {
      metadata: { filter_metadata: { [luaName("uploads")]: { [ROUTE.held_bytes]: heldUploads(config) } } },
    }),
    typed_per_filter_config: {
      ...(body.buffered ? {} : { [BUFFER]: BUFFER_OFF }),
      ...(own && body.counted && { [BUFFER]: bufferOnRoute(limits) }),
      ...(body.buffered && !body.counted && { [BUFFER]: bufferOnRoute(UNEXPECTED_BODY) }),
      ...(own && { [REQUEST_SIZE]: requestSizeOnRoute(limits) }),
      ...checkSettings(config, { body: body.readable, plans: true, caller }),
      ...(plan && { [CUSTOM_RESPONSE]: replaceRefused() }),
      ...onlyLua(config, [
        ...(plan ? (["guard_response", "answers"] as const) : []),
        ...(body.counted ? (["uploads"] as const) : []),
      ]),
    },
  };
}

/** Longer than the silence that either side is allowed. */
function idleTimeoutOf({ requestTimeout, upstreamTimeout }: Limits): number {
  return Math.max(300_000, requestTimeout, upstreamTimeout) + 1000;
}

/** Matches the backend that a trusted proxy has selected. */
function choice({ chosenBy }: Backend): readonly EnvoyJson[] {
  return chosenBy === undefined ? [] : [exactly(HEADER.backend, chosenBy)];
}

function exactly(name: string, value: string): EnvoyJson {
  return { name, string_match: { exact: value } };
}
