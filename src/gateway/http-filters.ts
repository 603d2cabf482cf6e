import { largest, type GatewayConfig, type Limits } from "../config/index.ts";
import { CALL_HEADER, DECISION, HEADER, NAMESPACE, NOTE, REFUSE } from "../envoy-contract.ts";
import { noCredential } from "./anonymous.ts";
import { asksFirstMessages, EXT_AUTHZ_CLUSTER } from "./clusters.ts";
import { extension, overwrite, REQUEST_ID, REQUEST_ID_HEADER, seconds, typed } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import { TOO_LARGE, TOO_MANY_UPLOADS } from "./local-replies.ts";
import { luaFilter } from "./lua-bundle.ts";

/** Checks every request, without its body. */
export const EXT_AUTHZ = "envoy.filters.http.ext_authz";
/** Checks a request again with its body, if the first check was not a decision. */
export const EXT_AUTHZ_BODY = "gatehouse.ext_authz.body";
export const BUFFER = "envoy.filters.http.buffer";

/**
 * How much Envoy reads ahead per connection; the rest waits in the network. Envoy continues reading a body when less than half
 * of its limit is buffered: what it reads ahead before the first response must be less (`decision_body_limit`).
 */
export const CONNECTION_BUFFER_BYTES = 256 * 1024;

export interface HttpFilterOptions {
  /** Another copy of the Lua runtime. */
  readonly luaDirectory?: string | undefined;
  /** See `BootstrapOptions`. */
  readonly corsFile?: string | undefined;
}

/** The filters that every request passes in this order, and every response in reverse. */
export function httpFilters(
  config: GatewayConfig,
  { luaDirectory, corsFile }: HttpFilterOptions = {},
): readonly EnvoyJson[] {
  return [
    answerRequestId(),
    ...(corsFile === undefined ? [] : [corsOfLocalReplies(corsFile, luaDirectory)]),
    lua("guard_response", luaDirectory),
    dropTrailers(),
    requestSize("envoy.filters.http.rbac", largest(config, "requestSize")),
    ...rateLimit(config),
    extAuthz(config),
    extAuthzWithBody(config),
    extension(CUSTOM_RESPONSE, CUSTOM_RESPONSE_TYPE),
    lua("answers", luaDirectory),
    ...(asksFirstMessages(config) ? [identifyByFirstMessage(config, luaDirectory)] : []),
    lua("sockets", luaDirectory),
    lua("guard_request", luaDirectory),
    lua("uploads", luaDirectory),
    bufferBody(config),
    requestSize(REQUEST_SIZE, config.gateway.security.request_size_limit),
    router(),
  ];
}

/**
 * Every response contains the request id. Envoy's own setting for this would use the client's id in refusals before Envoy has
 * assigned one; local replies set a different one there (local-replies.ts). The routes remove an application's own such header.
 */
function answerRequestId(): EnvoyJson {
  const header = { key: REQUEST_ID_HEADER, value: REQUEST_ID };
  return extension("gatehouse.request_id", HEADER_MUTATION, {
    mutations: { response_mutations: [{ append: { header, append_action: "ADD_IF_ABSENT" } }] },
  });
}

const HEADER_MUTATION = "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation";

/** Rules do not see request trailers, and some applications read them as headers. */
function dropTrailers(): EnvoyJson {
  return extension("envoy.filters.http.header_mutation", HEADER_MUTATION, {
    mutations: {
      request_trailers_mutations: [{ remove_on_match: { key_matcher: { safe_regex: { regex: ".*" } } } }],
    },
  });
}

/**
 * Refuses a Content-Length over the limit, or one that is not a number, before any of the body is read: at first with the
 * largest limit of any route, and after the decision with the one of the request's own. By then the buffer has set the length
 * of bodies without one (its own limit is imprecise: bytes that arrive during the decision are not counted). RBAC can only
 * answer 403; `localReplies` turns it into 413.
 */
function requestSize(name: string, limit: number): EnvoyJson {
  return extension(name, "envoy.extensions.filters.http.rbac.v3.RBAC", sizeRules(limit));
}

export const REQUEST_SIZE = "gatehouse.request_size";

export function requestSizeOnRoute({ requestSize: limit }: Limits): EnvoyJson {
  return typed("envoy.extensions.filters.http.rbac.v3.RBACPerRoute", { rbac: sizeRules(limit) });
}

function sizeRules(limit: number): EnvoyJson {
  const withinLimit = { start: 0, end: limit + 1 };
  const rules = [
    { header: { name: "content-length", present_match: true } },
    { not_rule: { header: { name: "content-length", range_match: withinLimit } } },
  ];
  const noted = (key: string) => ({
    sourced_metadata: {
      metadata_matcher: { filter: NAMESPACE.notes, path: [{ key }], value: { bool_match: true } },
      metadata_source: "DYNAMIC",
    },
  });
  const policy = (...permissions: readonly EnvoyJson[]) => ({ principals: [{ any: true }], permissions });
  // a dropped body seems shorter than it was
  const policies = {
    [TOO_LARGE]: policy({ and_rules: { rules } }, noted(NOTE.upload_too_large)),
    [TOO_MANY_UPLOADS]: policy(noted(NOTE.upload_dropped)),
  };
  return { rules: { action: "DENY", policies } };
}

/** Applied before the decision, so that a flood costs no decisions. */
function rateLimit(config: GatewayConfig): readonly EnvoyJson[] {
  const {
    requests_per_second: rate,
    burst_size: burst = rate,
    anonymous_requests_per_second: anonymous,
  } = config.gateway.security.rate_limiting;
  return [
    ...(anonymous === 0
      ? []
      : [localRateLimit("gatehouse.anonymous_ratelimit", onlyAnonymous(config, anonymous))]),
    ...(rate === 0
      ? []
      : [localRateLimit("envoy.filters.http.local_ratelimit", { token_bucket: tokenBucket(rate, burst) })]),
  ];
}

function localRateLimit(name: string, limits: EnvoyJson): EnvoyJson {
  const always = { default_value: { numerator: 100, denominator: "HUNDRED" } };
  return extension(name, "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", {
    stat_prefix: "gateway",
    ...limits,
    filter_enabled: always,
    filter_enforced: always,
    response_headers_to_add: [overwrite({ key: "retry-after", value: "1" })],
  });
}

function tokenBucket(rate: number, burst: number): EnvoyJson {
  return { max_tokens: burst, tokens_per_fill: rate, fill_interval: "1s" };
}

/**
 * A bucket for requests without any credential; the service decides whether a credential is valid. The peer is not known
 * here: if there are trusted proxies, `X-User-Token` from any client counts as a credential.
 */
function onlyAnonymous(config: GatewayConfig, rate: number): EnvoyJson {
  const descriptor = { key: "caller", value: "anonymous" };
  return {
    token_bucket: tokenBucket(UNLIMITED, UNLIMITED),
    always_consume_default_token_bucket: false,
    descriptors: [{ entries: [descriptor], token_bucket: tokenBucket(rate, rate) }],
    rate_limits: [
      {
        actions: [
          {
            header_value_match: {
              descriptor_key: descriptor.key,
              descriptor_value: descriptor.value,
              headers: noCredential(config),
            },
          },
        ],
      },
    ],
  };
}

/** The bucket of all other requests, which Envoy requires. */
const UNLIMITED = 4_000_000_000;

function extAuthz(config: GatewayConfig): EnvoyJson {
  return extension(EXT_AUTHZ, EXT_AUTHZ_TYPE, extAuthzSettings(config));
}

/**
 * Buffers the body and checks again with it, unless the first response was a decision: missing metadata always means one more
 * check, never one less. The service decides for each request whether it needs the body, so Envoy's configuration does not
 * depend on what policies read.
 */
function extAuthzWithBody(config: GatewayConfig): EnvoyJson {
  return extension(EXT_AUTHZ_BODY, EXT_AUTHZ_TYPE, {
    ...extAuthzSettings(config),
    filter_enabled_metadata: {
      filter: NAMESPACE.decision,
      path: [{ key: DECISION.final }],
      value: { bool_match: true },
      invert: true,
    },
    with_request_body: {
      max_request_bytes: config.gateway.security.decision_body_limit,
      allow_partial_message: false,
      pack_as_bytes: true,
    },
  });
}

const EXT_AUTHZ_TYPE = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";

function extAuthzSettings(config: GatewayConfig): EnvoyJson {
  return {
    transport_api_version: "V3",
    grpc_service: authzService(config, EXT_AUTHZ_CLUSTER),
    failure_mode_allow: false,
    // otherwise an outage would look like a denial
    status_on_error: { code: "ServiceUnavailable" },
    validate_mutations: true,
    // repeated headers stay separate, and bytes that are not UTF-8 stay unchanged
    encode_raw_headers: true,
    include_peer_certificate: false,
    // for the access log: whether a check was sent to a worker
    emit_filter_state_stats: true,
    // a denial is not a response of the application, for which these statistics are
    charge_cluster_response_stats: false,
    // a header in the response moves the request to a route whose filters enforce its plan (routes.ts)
    clear_route_cache: true,
  };
}

/** Replaces responses that Lua refuses, on routes with plans. */
export const CUSTOM_RESPONSE = "envoy.filters.http.custom_response";
const CUSTOM_RESPONSE_TYPE = "envoy.extensions.filters.http.custom_response.v3.CustomResponse";

/**
 * Lua cannot respond on the response path: the body that it replaced would end only when the application's ends. A local reply
 * at the headers also ends the stream to the application, and has gRPC's form if the call is gRPC. Its text is in local-replies.ts.
 */
export function replaceRefused(): EnvoyJson {
  const input = extension("header", "envoy.type.matcher.v3.HttpResponseHeaderMatchInput", {
    header_name: REFUSE.header,
  });
  const action = extension(
    "reply",
    "envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy",
    { status_code: 502 },
  );
  const predicate = { single_predicate: { input, value_match: { exact: REFUSE.value } } };
  return typed(CUSTOM_RESPONSE_TYPE, {
    custom_response_matcher: { matcher_list: { matchers: [{ predicate, on_match: { action } }] } },
  });
}

/** How long Envoy waits for the answer to a check, in ms: first for its turn, then for the decision. */
export function checkTimeout({ authz }: GatewayConfig): number {
  return authz.queue_timeout + authz.decision_timeout;
}

/** How a worker is called over the connections of this cluster. */
export function authzService(config: GatewayConfig, cluster: string): EnvoyJson {
  const timeout = seconds(checkTimeout(config));
  return {
    envoy_grpc: { cluster_name: cluster },
    // the check may wait in Envoy and on the way: the worker computes from this how long it has waited
    initial_metadata: [{ key: CALL_HEADER.askedAfter, value: "%DURATION%" }],
    // If a worker has died, another one is asked; never because the first one is late, which would double its load. Envoy
    // uses the maximum back-off interval as the timeout of one attempt, unless it is that of the whole call
    retry_policy: {
      retry_on: "connect-failure,refused-stream,reset,unavailable",
      num_retries: 2,
      retry_back_off: { base_interval: "0.001s", max_interval: timeout },
      retry_host_predicate: [
        extension(
          "envoy.retry_host_predicates.previous_hosts",
          "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
        ),
      ],
      // each retry may pick the same worker
      host_selection_retry_max_attempts: 100,
    },
    timeout,
  };
}

/** Filters in Lua (envoy/lua); each route turns off the ones it does not need. */
export const LUA_FILTERS = ["guard_response", "answers", "sockets", "guard_request", "uploads"] as const;
/** Also in Lua, if the first messages of connections are asked for a token. */
export const IDENTIFY_FILTER = "identify";
export type LuaFilter = (typeof LUA_FILTERS)[number] | typeof IDENTIFY_FILTER;

/** The filters in Lua that are there. */
export function luaFilters(config: GatewayConfig): readonly LuaFilter[] {
  return asksFirstMessages(config) ? [...LUA_FILTERS, IDENTIFY_FILTER] : LUA_FILTERS;
}

/** The name under which routes know a filter in Lua. */
export function luaName(filter: LuaFilter): string {
  return `gatehouse.lua.${filter}`;
}

const LUA_TYPE = "envoy.extensions.filters.http.lua.v3.Lua";

function lua(filter: LuaFilter, directory: string | undefined): EnvoyJson {
  return extension(luaName(filter), LUA_TYPE, {
    default_source_code: { inline_string: luaFilter(filter, directory) },
  });
}

/** In front of the filter that evaluates messages: while this one waits for the service, Envoy passes nothing on (decision 0057). */
function identifyByFirstMessage(config: GatewayConfig, directory: string | undefined): EnvoyJson {
  const script = `GATEHOUSE_IDENTIFY_MS = ${String(checkTimeout(config))}\n${luaFilter(IDENTIFY_FILTER, directory)}`;
  return extension(luaName(IDENTIFY_FILTER), LUA_TYPE, { default_source_code: { inline_string: script } });
}

/** Runs only on Envoy's own responses to requests with an origin, which `localReplies` marks. */
function corsOfLocalReplies(file: string, directory: string | undefined): EnvoyJson {
  const input = extension("origin", "envoy.type.matcher.v3.HttpResponseHeaderMatchInput", {
    header_name: HEADER.origin,
  });
  const marked = {
    single_predicate: { input, value_match: { safe_regex: { google_re2: {}, regex: ".*" } } },
  };
  const skip = extension("skip", "envoy.extensions.filters.common.matcher.action.v3.SkipFilter");
  // the name of the file is text of ours, whose JSON escapes are Lua's
  const script = `GATEHOUSE_CORS_FILE = ${JSON.stringify(file)}\n${luaFilter("cors", directory)}`;
  return extension("gatehouse.lua.cors", "envoy.extensions.common.matching.v3.ExtensionWithMatcher", {
    extension_config: extension("envoy.filters.http.lua", LUA_TYPE, {
      default_source_code: { inline_string: script },
    }),
    xds_matcher: {
      matcher_list: {
        matchers: [{ predicate: { not_matcher: marked }, on_match: { action: skip } }],
      },
    },
  });
}

/**
 * Buffers bodies of unknown length, to refuse those over the limit; routes turn it off for all others. It runs after the
 * decision, so that unknown clients cannot make the gateway buffer anything.
 */
function bufferBody(config: GatewayConfig): EnvoyJson {
  return extension(
    BUFFER,
    "envoy.extensions.filters.http.buffer.v3.Buffer",
    bufferLimit(config.gateway.security.request_size_limit),
  );
}

export function bufferOnRoute({ requestSize: limit }: Pick<Limits, "requestSize">): EnvoyJson {
  return typed("envoy.extensions.filters.http.buffer.v3.BufferPerRoute", { buffer: bufferLimit(limit) });
}

/** The largest body of unknown length in a request whose method usually has none. */
export const UNEXPECTED_BODY = { requestSize: 8 * CONNECTION_BUFFER_BYTES } as const;

function bufferLimit(limit: number): EnvoyJson {
  return {
    // Envoy continues reading when less than half of this is buffered. What it has read before the decision must be less,
    // otherwise it would neither read nor answer. Under load it reads ahead more than one connection buffer: with four of
    // them, one in a thousand oversized uploads got 408 on a busy machine
    max_request_bytes: Math.max(limit, 8 * CONNECTION_BUFFER_BYTES),
  };
}

function router(): EnvoyJson {
  return extension("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router", {
    suppress_envoy_headers: true,
  });
}
