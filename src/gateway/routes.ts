import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GatewayConfig } from "../config/index.ts";
import { pathExpression } from "./body-paths.ts";
import type { BodyRoute } from "./body-paths.ts";
import { backendsOf } from "./clusters.ts";
import type { Backend } from "./clusters.ts";
import { HSTS_HEADER, overwrite, seconds, typed } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import { IR_VERSION } from "../policy/index.ts";
import {
  BUFFER,
  CONNECTION_BUFFER_BYTES,
  EXT_AUTHZ,
  LUA_FILTERS,
  luaName,
  type LuaFilter,
} from "./http-filters.ts";

export const ROUTE_CONFIG_NAME = "gateway";

/** What a policy set asks of the routes. */
export interface RouteNeeds {
  /**
   * Requests whose conditions read the body, and GraphQL endpoints: only their bodies are held back and handed to the
   * service.
   */
  readonly bodies: readonly BodyRoute[];
  /** Answers may have to be held back as a whole. */
  readonly responses: boolean;
}

export const NO_NEEDS: RouteNeeds = { bodies: [], responses: false };
/** For routes that do not follow a policy set: whatever it says about answers can be carried out. */
export const ANY_ANSWERS: RouteNeeds = { bodies: [], responses: true };

/** Where requests go, and what is special about them on the way. */
export function routeConfiguration(config: GatewayConfig, { bodies, responses }: RouteNeeds): EnvoyJson {
  const targets = [...unique(bodies.map(bodyMatch)), undefined];
  const routes = backendsOf(config).flatMap((backend) => [
    upgradeRoute(config, backend),
    ...targets.flatMap((target) =>
      lengthClasses(backend).map((length) => route(config, backend, { target, length, responses })),
    ),
  ]);
  return {
    name: ROUTE_CONFIG_NAME,
    virtual_hosts: [{ name: "gateway", domains: ["*"], routes: [NO_TUNNELS, ...routes] }],
    request_headers_to_remove: ["x-backend-url"],
    response_headers_to_remove: ["server"],
    ...(config.gateway.security.hsts_header ? { response_headers_to_add: [overwrite(HSTS_HEADER)] } : {}),
  };
}

/**
 * Writes the routes for Envoy to take over, by one rename: it never sees half a file. The folder must hold nothing
 * else that is renamed, because Envoy watches it.
 *
 * @param file in an existing folder; replaced.
 */
export function writeRoutes(file: string, config: GatewayConfig, needs: RouteNeeds): void {
  const resource = typed("envoy.config.route.v3.RouteConfiguration", routeConfiguration(config, needs));
  const temporary = join(dirname(file), `.${randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, JSON.stringify({ version_info: randomUUID(), resources: [resource] }), {
      mode: 0o600,
    });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

const BUFFER_OFF = typed("envoy.extensions.filters.http.buffer.v3.BufferPerRoute", { disabled: true });

/**
 * What a route says to the service: whether the body is handed over, and that the filters are on which carry out plans, of
 * which version. Without that the service denies what it would have to plan for: a set that has just got its first
 * response rule must not meet a route that lets answers pass as they are.
 */
function checkSettings(options: { readonly body: boolean; readonly plans: boolean }): EnvoyJson {
  return typed("envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute", {
    check_settings: {
      ...(options.body ? {} : { disable_request_body_buffering: true }),
      ...(options.plans ? { context_extensions: { gatehouse_plans: String(IR_VERSION) } } : {}),
    },
  });
}

/** Switches filters in Lua off: each costs every request that passes it. */
function luaOff(...filters: readonly LuaFilter[]): EnvoyJson {
  const off = typed("envoy.extensions.filters.http.lua.v3.LuaPerRoute", { disabled: true });
  return Object.fromEntries(filters.map((filter) => [luaName(filter), off]));
}

/** CONNECT is answered at once: behind the buffer it would wait for the end of a body that never ends. */
const NO_TUNNELS: EnvoyJson = {
  match: { connect_matcher: {} },
  direct_response: { status: 405 },
  typed_per_filter_config: {
    [EXT_AUTHZ]: checkSettings({ body: false, plans: false }),
    [BUFFER]: BUFFER_OFF,
    ...luaOff(...LUA_FILTERS),
  },
};

/** Despite its name it bounds answers, too. Lua refuses what is over the limit; more than that never reaches it. */
function heldBytes({ gateway: { security } }: GatewayConfig): number {
  return Math.max(security.response_size_limit, security.request_size_limit, 4 * CONNECTION_BUFFER_BYTES);
}

const UPGRADE = [
  { name: ":method", string_match: { exact: "GET" } },
  { name: "upgrade", string_match: { exact: "websocket", ignore_case: true } },
  { name: "connection", string_match: { contains: "upgrade", ignore_case: true } },
];

/** WebSocket handshakes: what follows them is no body, and is silent at times. */
function upgradeRoute(config: GatewayConfig, backend: Backend): EnvoyJson {
  return {
    match: { prefix: "/", headers: [...choice(backend), ...UPGRADE] },
    route: {
      cluster: backend.upgradeCluster,
      timeout: "0s",
      idle_timeout: seconds(config.gateway.websocket_idle_timeout),
      upgrade_configs: [{ upgrade_type: "websocket" }],
    },
    request_body_buffer_limit: heldBytes(config),
    typed_per_filter_config: {
      [EXT_AUTHZ]: checkSettings({ body: false, plans: true }),
      [BUFFER]: BUFFER_OFF,
      ...luaOff("answers"),
    },
  };
}

interface LengthClass {
  readonly headers: readonly EnvoyJson[];
  readonly buffered: boolean;
}

/** A body of known length flows through, and so does gRPC; one of unknown length is held back and measured. */
function lengthClasses(backend: Backend): readonly LengthClass[] {
  const known = { headers: [{ name: "content-length", present_match: true }], buffered: false };
  const grpc = {
    headers: [{ name: "content-type", string_match: { prefix: "application/grpc" } }],
    buffered: false,
  };
  return [known, ...(backend.http2 ? [grpc] : []), { headers: [], buffered: true }];
}

interface BodyMatch {
  readonly path: string;
  readonly method: string;
}

function bodyMatch({ method, segments }: BodyRoute): BodyMatch {
  return { path: pathExpression(segments), method };
}

function unique(matches: readonly BodyMatch[]): readonly BodyMatch[] {
  return [...new Map(matches.map((match) => [`${match.method} ${match.path}`, match])).values()];
}

interface RouteKind {
  /** Requests whose body goes to the service; absent: all others. */
  readonly target: BodyMatch | undefined;
  readonly length: LengthClass;
  /** Answers may have to be held back. */
  readonly responses: boolean;
}

function route(config: GatewayConfig, backend: Backend, { target, length, responses }: RouteKind): EnvoyJson {
  return {
    match: {
      ...(target === undefined ? { prefix: "/" } : { safe_regex: { regex: target.path } }),
      headers: [
        ...choice(backend),
        ...(target === undefined ? [] : methodMatch(target.method)),
        ...length.headers,
      ],
    },
    route: {
      cluster: backend.cluster,
      // no bound on the whole answer, which may be a long download or a stream, but on silence
      timeout: "0s",
      retry_policy: { num_retries: 0, per_try_idle_timeout: seconds(config.gateway.upstream_timeout) },
    },
    ...(responses && { request_body_buffer_limit: heldBytes(config) }),
    typed_per_filter_config: {
      ...(length.buffered ? {} : { [BUFFER]: BUFFER_OFF }),
      [EXT_AUTHZ]: checkSettings({ body: target !== undefined, plans: responses }),
      ...(responses ? luaOff("sockets", "guard_request") : luaOff(...LUA_FILTERS)),
    },
  };
}

/** Which backend a trusted proxy has chosen. */
function choice({ chosenBy }: Backend): readonly EnvoyJson[] {
  return chosenBy === undefined ? [] : [exactly("x-backend-url", chosenBy)];
}

/** Rules for GET judge HEAD too. */
function methodMatch(method: string): readonly EnvoyJson[] {
  if (method === "*") return [];
  if (method !== "GET") return [exactly(":method", method)];
  return [{ name: ":method", string_match: { safe_regex: { regex: "GET|HEAD" } } }];
}

function exactly(name: string, value: string): EnvoyJson {
  return { name, string_match: { exact: value } };
}
