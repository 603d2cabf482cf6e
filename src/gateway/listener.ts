import { largest, type GatewayConfig } from "../config/index.ts";
import { HEADER, LOG_TAG } from "../envoy-contract.ts";
import { allOf, anyOf, expression, flags, IS_OVER, IS_UNDER_WAY, status } from "./access-log-filters.ts";
import { accessLogLines } from "./access-log-lines.ts";
import { ACCESS_LOG_CLUSTER, TRACING_CLUSTER } from "./clusters.ts";
import { DECIDED, decidedAgainst, LOOKED_AFTER, PLANNED, UNDECIDED } from "./decision-metadata.ts";
import { extension, overwrite, REQUEST_ID_HEADER, seconds, socketAddress } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import { namesNotFromClients, OWN_PREFIXES, speaksTls } from "./from-clients.ts";
import {
  believesHeaders,
  CLIENT_ADDRESS,
  knowsClient,
  onlyFromProxies,
  proxyProtocol,
} from "./front-proxies.ts";
import { CONNECTION_BUFFER_BYTES, EXT_AUTHZ, EXT_AUTHZ_BODY, httpFilters } from "./http-filters.ts";
import { localReplies } from "./local-replies.ts";
import { routeConfiguration } from "./routes.ts";

export const LISTENER_NAME = "gateway";

/** Headers to include in the access log: its own enumeration of methods has only the common ones. */
const LOGGED_HEADERS = [":method", "x-real-ip", "x-forwarded-for", "forwarded"];

export interface ListenerOptions {
  /** Another copy of the Lua runtime. */
  readonly luaDirectory?: string | undefined;
  /** See `BootstrapOptions`. */
  readonly corsFile?: string | undefined;
}

export function listener(config: GatewayConfig, options: ListenerOptions): EnvoyJson {
  const { listen_address: address, listen_port: port } = config.gateway;
  return {
    name: LISTENER_NAME,
    address: socketAddress(address, port),
    per_connection_buffer_limit_bytes: CONNECTION_BUFFER_BYTES,
    ...proxyProtocol(config),
    filter_chains: [
      { ...onlyFromProxies(config), filters: [connectionManager(config, options)], ...tls(config) },
    ],
  };
}

function connectionManager(config: GatewayConfig, options: ListenerOptions): EnvoyJson {
  const { upstream_timeout: upstreamTimeout } = config.gateway;
  // Envoy has one for all requests
  const requestTimeout = largest(config, "requestTimeout");
  return extension(
    "envoy.filters.network.http_connection_manager",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    {
      stat_prefix: "gateway",
      codec_type: "AUTO",

      // the client is the peer of the connection; no peer may set x-envoy-* headers
      use_remote_address: true,
      xff_num_trusted_hops: 0,
      // for a peer on loopback, Envoy would append an address of the machine
      skip_xff_append: true,
      // an empty list would mean private networks, which could then set x-request-id and x-envoy-*
      internal_address_config: { cidr_ranges: [{ address_prefix: "255.255.255.255", prefix_len: 32 }] },
      generate_request_id: true,
      preserve_external_request_id: false,
      // a filter does it: this setting would echo the client's id if Envoy refuses early
      always_set_request_id_in_response: false,
      early_header_mutation_extensions: [removeForgedHeaders(config)],
      // the listener's scheme, not what a client sends in :scheme or in an absolute target
      scheme_header_transformation: { scheme_to_overwrite: speaksTls(config) ? "https" : "http" },

      // the path as sent, for both the service and the application: the service refuses ambiguous paths (decision 0024) and
      // gives the reason
      normalize_path: false,
      merge_slashes: false,
      path_with_escaped_slashes_action: "KEEP_UNCHANGED",
      strip_trailing_host_dot: true,
      common_http_protocol_options: {
        // the service refuses these, too
        headers_with_underscores_action: "ALLOW",
        max_headers_count: 200,
        idle_timeout: "300s",
      },
      max_request_headers_kb: 64,
      http_protocol_options: {
        // nginx speaks it to what is behind it unless configured otherwise; the service refuses what is ambiguous in it
        accept_http_10: true,
        // of responses; a filter removes those of requests
        enable_trailers: true,
      },
      http2_protocol_options: {
        max_concurrent_streams: 100,
        initial_stream_window_size: 65_536,
        initial_connection_window_size: 1_048_576,
        // RFC 8441: WebSocket over HTTP/2
        allow_connect: true,
      },
      // only on the route for handshakes, which has the filters for WebSocket messages
      upgrade_configs: [{ upgrade_type: "websocket", enabled: false }],

      // slow clients and idle streams
      request_headers_timeout: seconds(Math.min(10_000, requestTimeout)),
      request_timeout: seconds(requestTimeout),
      stream_idle_timeout: seconds(Math.max(300_000, requestTimeout, upstreamTimeout) + 1000),

      server_header_transformation: "PASS_THROUGH",
      local_reply_config: localReplies(config, options.corsFile !== undefined),
      ...tracing(config),
      access_log: [...accessLogs(config), ...accessLogLines(config)],
      // open connections are reported, even idle ones; the service waits four times as long
      access_log_options: { access_log_flush_interval: seconds(10_000) },
      http_filters: httpFilters(config, options),
      route_config: routeConfiguration(config),
    },
  );
}

/**
 * Removes headers that only the gateway may set, and those with which some applications let a client replace the path that
 * was decided. This is a second line of defence: the service removes every spelling, and further such names, which would
 * need longer expressions than Envoy accepts here.
 */
function removeForgedHeaders(config: GatewayConfig): EnvoyJson {
  return extension(
    "envoy.http.early_header_mutation.header_mutation",
    "envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation",
    {
      mutations: [
        ...[...namesNotFromClients(config)].map((name) => ({ remove: name })),
        ...OWN_PREFIXES.map((prefix) => ({
          remove_on_match: { key_matcher: { prefix, ignore_case: true } },
        })),
        copyOf("Transfer-Encoding", HEADER.transferEncoding),
        ...(believesHeaders(config) ? [copyOf("X-Forwarded-Proto", HEADER.forwardedProto)] : []),
        ...(knowsClient(config) ? [CLIENT_ADDRESS] : []),
        ...(config.gateway.backends.length === 0 ? [] : [copyOf("X-Backend-URL", HEADER.backend)]),
      ],
    },
  );
}

/** Copies a request header, if there is one. */
function copyOf(name: string, key: string): EnvoyJson {
  return { append: overwrite({ key, value: `%REQ(${name.toUpperCase()})%` }) };
}

/** Envoy's flags for failures of an application; src/extauthz/access-log-request.ts decodes them. */
const UPSTREAM_FLAGS = ["UH", "UT", "LR", "UR", "UF", "UC", "UO", "NR", "URX", "UMSDR", "UPE", "NC", "DF"];

/**
 * Reports to the service the outcome of requests that had a plan, that were allowed but reached no application, or whose
 * application failed; with `audit.outcomes`, of every allowed request; and requests without a decision, which get a record
 * each. They use separate streams: entries that are not sent in time are lost, and a flood of refused requests must not
 * crowd out the others.
 */
function accessLogs({ audit }: GatewayConfig): readonly EnvoyJson[] {
  const wanted = audit.outcomes ? decidedAgainst(false) : anyOf(PLANNED, flags(...UPSTREAM_FLAGS), stopped());
  return [
    accessLog("outcomes", allOf(IS_OVER, DECIDED, wanted)),
    accessLog("refusals", allOf(IS_OVER, UNDECIDED)),
    // a single entry may be lost: a connection that is no longer reported counts as closed
    accessLog("connections", allOf(IS_UNDER_WAY, LOOKED_AFTER)),
  ];
}

/** Whether the checks of a request have begun. */
const CHECK_TAGS = [
  { tag: LOG_TAG.check_bytes, value: `%FILTER_STATE(${EXT_AUTHZ}:FIELD:bytesSent)%` },
  { tag: LOG_TAG.body_check_bytes, value: `%FILTER_STATE(${EXT_AUTHZ_BODY}:FIELD:bytesSent)%` },
  { tag: LOG_TAG.body_check_us, value: `%FILTER_STATE(${EXT_AUTHZ_BODY}:FIELD:latency_us)%` },
];

/** Per log and Envoy thread: a buffer for about a thousand unsent entries. It uses memory only while they wait. */
const LOG_BUFFER_BYTES = 1024 * 1024;

function accessLog(name: string, filter: EnvoyJson): EnvoyJson {
  return {
    ...extension(
      "envoy.access_loggers.http_grpc",
      "envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig",
      {
        common_config: {
          log_name: `gatehouse_${name}`,
          transport_api_version: "V3",
          grpc_service: { envoy_grpc: { cluster_name: ACCESS_LOG_CLUSTER } },
          buffer_flush_interval: "0.200s",
          buffer_size_bytes: LOG_BUFFER_BYTES,
          custom_tags: CHECK_TAGS,
          // before a worker has accepted the stream, because one that has just died still counts as healthy
          grpc_stream_retry_policy: {
            retry_on: "connect-failure,refused-stream,reset,unavailable",
            num_retries: 30,
            retry_back_off: { base_interval: "0.050s", max_interval: "1s" },
          },
        },
        additional_request_headers_to_log: [...LOGGED_HEADERS],
        additional_response_headers_to_log: [REQUEST_ID_HEADER],
      },
    ),
    filter,
  };
}

/**
 * Envoy stopped the request after it had been allowed, or its client left. Status and flags rule out successful responses, and
 * metadata rules out denials; the expression, which costs more, runs only for the rest.
 */
function stopped(): EnvoyJson {
  return allOf(
    anyOf(status("GE", 400), flags()),
    decidedAgainst(false),
    expression("!has(upstream.address)"),
  );
}

function tls(config: GatewayConfig): EnvoyJson {
  const {
    tls_certificate: certificate,
    tls_private_key: key,
    tls_min_version: version,
  } = config.gateway.security;
  if (certificate === undefined || key === undefined) return {};
  return {
    transport_socket: extension(
      "envoy.transport_sockets.tls",
      "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      {
        common_tls_context: {
          tls_params: { tls_minimum_protocol_version: version === "1.2" ? "TLSv1_2" : "TLSv1_3" },
          tls_certificates: [
            { certificate_chain: { filename: certificate }, private_key: { filename: key } },
          ],
          alpn_protocols: ["h2", "http/1.1"],
        },
      },
    ),
  };
}

const PATH_WITHOUT_QUERY = "%PATH(NQ:ORIG_OR_PATH):256%";

function tracing(config: GatewayConfig): EnvoyJson {
  const { endpoint, sample_ratio: ratio } = config.telemetry.tracing;
  if (endpoint === undefined) return {};
  return {
    tracing: {
      random_sampling: { value: ratio * 100 },
      // Envoy's own tags with these names contain the whole query, which may contain secrets
      custom_tags: [
        { tag: "http.url", value: `%REQ(:SCHEME)%://%REQ(:AUTHORITY):256%${PATH_WITHOUT_QUERY}` },
        { tag: "grpc.path", value: PATH_WITHOUT_QUERY },
      ],
      provider: extension("envoy.tracers.opentelemetry", "envoy.config.trace.v3.OpenTelemetryConfig", {
        service_name: "gatehouse-gateway",
        http_service: {
          http_uri: {
            uri: `${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`,
            cluster: TRACING_CLUSTER,
            timeout: "1s",
          },
        },
      }),
    },
  };
}
