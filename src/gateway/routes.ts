import type { GatewayConfig } from "../config/index.ts";
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
  CONNECTION_BUFFER_BYTES,
  CUSTOM_RESPONSE,
  EXT_AUTHZ,
  EXT_AUTHZ_BODY,
  LUA_FILTERS,
  luaName,
  replaceRefused,
  type LuaFilter,
} from "./http-filters.ts";

const ROUTE_CONFIG_NAME = "gateway";

/**
 * The routes of requests. They do not depend on policies: the service's decision says what a request needs from Envoy (its body
 * in the check, its response processed), so that a new policy set never meets an old route.
 */
export function routeConfiguration(config: GatewayConfig): EnvoyJson {
  const routes = backendsOf(config).flatMap((backend) => [
    ...CALLERS.map((caller) => upgradeRoute(config, backend, caller)),
    // the decision has been made: whether the caller has a credential no longer matters
    ...bodyClasses(backend).map((body) => route(config, backend, { body, plan: true, caller: "any" })),
    ...bodyClasses(backend).flatMap((body) =>
      CALLERS.map((caller) => route(config, backend, { body, plan: false, caller })),
    ),
  ]);
  return {
    name: ROUTE_CONFIG_NAME,
    virtual_hosts: [{ name: "gateway", domains: ["*"], routes: [noTunnels(config), ...routes] }],
    request_headers_to_remove: ["x-backend-url", "x-envoy-external-address", ...Object.values(HEADER)],
    response_headers_to_remove: ["server", REQUEST_ID_HEADER, REFUSE.header],
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

/** Turns off filters in Lua, because each costs every request that passes it. */
function luaOff(...filters: readonly LuaFilter[]): EnvoyJson {
  const off = typed("envoy.extensions.filters.http.lua.v3.LuaPerRoute", { disabled: true });
  return Object.fromEntries(filters.map((filter) => [luaName(filter), off]));
}

/** CONNECT is answered at once: after the buffer it would wait for the end of a body that never ends. */
function noTunnels(config: GatewayConfig): EnvoyJson {
  return {
    match: { connect_matcher: {} },
    direct_response: { status: 405 },
    typed_per_filter_config: {
      ...checkSettings(config, { body: false, plans: false, caller: "any" }),
      [BUFFER]: BUFFER_OFF,
      ...luaOff(...LUA_FILTERS),
    },
  };
}

/** Despite its name, it also limits responses. Lua refuses responses over the limit; much larger ones never reach it. */
function heldBytes({ gateway: { security } }: GatewayConfig): number {
  const { response_size_limit, request_size_limit, decision_body_limit } = security;
  return Math.max(response_size_limit, request_size_limit, decision_body_limit, 4 * CONNECTION_BUFFER_BYTES);
}

const UPGRADE = [
  { name: ":method", string_match: { exact: "GET" } },
  { name: "upgrade", string_match: { exact: "websocket", ignore_case: true } },
  { name: "connection", string_match: { contains: "upgrade", ignore_case: true } },
];

/** WebSocket handshakes: what follows is not a body, and may be idle at times. */
function upgradeRoute(config: GatewayConfig, backend: Backend, caller: Caller): EnvoyJson {
  return {
    match: { prefix: "/", headers: [...choice(backend), ...UPGRADE, ...isCaller(config, caller)] },
    route: {
      cluster: backend.upgradeCluster,
      timeout: "0s",
      idle_timeout: seconds(config.gateway.websocket_idle_timeout),
      upgrade_configs: [{ upgrade_type: "websocket" }],
    },
    // Lua cannot see what is spoken upstream
    metadata: { filter_metadata: { [luaName("sockets")]: { [ROUTE.upstream]: upgradeProtocol(backend) } } },
    request_body_buffer_limit: heldBytes(config),
    typed_per_filter_config: {
      ...checkSettings(config, { body: false, plans: true, caller }),
      [BUFFER]: BUFFER_OFF,
      ...luaOff("answers"),
    },
  };
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
}

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
  };
  return [known, ...(backend.http2 ? [grpc] : []), { headers: [], buffered: true, readable: true }];
}

interface RouteKind {
  readonly body: BodyClass;
  /** The decision has a plan: the response may have to be buffered. */
  readonly plan: boolean;
  readonly caller: Caller;
}

function route(config: GatewayConfig, backend: Backend, { body, plan, caller }: RouteKind): EnvoyJson {
  const planned = plan ? [{ name: HEADER.plan, present_match: true }] : [];
  return {
    match: {
      prefix: "/",
      headers: [...choice(backend), ...planned, ...body.headers, ...isCaller(config, caller)],
    },
    route: {
      cluster: backend.cluster,
      // no limit on the whole response, which may be a long download or a stream, but on silence
      timeout: "0s",
      retry_policy: { num_retries: 0, per_try_idle_timeout: seconds(config.gateway.upstream_timeout) },
    },
    ...(plan && { request_body_buffer_limit: heldBytes(config) }),
    typed_per_filter_config: {
      ...(body.buffered ? {} : { [BUFFER]: BUFFER_OFF }),
      ...checkSettings(config, { body: body.readable, plans: true, caller }),
      ...(plan
        ? { ...luaOff("sockets", "guard_request"), [CUSTOM_RESPONSE]: replaceRefused() }
        : luaOff(...LUA_FILTERS)),
    },
  };
}

/** Matches the backend that a trusted proxy has selected. */
function choice({ chosenBy }: Backend): readonly EnvoyJson[] {
  return chosenBy === undefined ? [] : [exactly(HEADER.backend, chosenBy)];
}

function exactly(name: string, value: string): EnvoyJson {
  return { name, string_match: { exact: value } };
}
