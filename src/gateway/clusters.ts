import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { ownClusterOf } from "../envoy-contract.ts";
import type { GatewayConfig } from "../config/index.ts";
import { extension, seconds, socketAddress, typed } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";

export const EXT_AUTHZ_CLUSTER = "ext_authz";
/** The same workers over separate connections: checks that wait here do not delay those of the other cluster. */
export const EXT_AUTHZ_ANONYMOUS_CLUSTER = "ext_authz_anonymous";
/** The same workers, for the access log: a flood of its entries does not delay checks. */
export const ACCESS_LOG_CLUSTER = "access_log";
/** Envoy runs health checks of the workers for each of them. */
export const WORKER_CLUSTERS = [EXT_AUTHZ_CLUSTER, EXT_AUTHZ_ANONYMOUS_CLUSTER, ACCESS_LOG_CLUSTER] as const;
export const TRACING_CLUSTER = "tracing";

/** The address of one ext_authz worker. */
export type AuthzEndpoint =
  { readonly unixSocket: string } | { readonly address: string; readonly port: number };

export interface Backend {
  readonly cluster: string;
  readonly url: string;
  /** Selected by this value of X-Backend-URL; absent: the default backend. */
  readonly chosenBy?: string;
  /** The backend can serve gRPC, because it may speak HTTP/2. */
  readonly http2: boolean;
  /**
   * The cluster for WebSocket connections, so that open ones do not use up the limits of other requests. `https` uses HTTP/1.1,
   * because few servers accept handshakes over HTTP/2 (RFC 8441).
   */
  readonly upgradeCluster: string;
}

/** The applications behind the gateway; the ones selected by a header come first. */
export function backendsOf(config: GatewayConfig): readonly Backend[] {
  const { backend, backends } = config.gateway;
  const chosen = backends.map((url, index) => ({
    ...describe(`backend_${String(index + 1)}`, url),
    chosenBy: url,
  }));
  return backend === undefined ? chosen : [...chosen, describe("backend", backend)];
}

function describe(cluster: string, url: string): Backend {
  const { protocol: scheme } = new URL(url);
  return { cluster, url, http2: scheme !== "http:", upgradeCluster: `${cluster}_upgrades` };
}

/** @param caFile PEM bundle for verifying `https` peers. */
export function clusters(
  config: GatewayConfig,
  authzEndpoints: readonly AuthzEndpoint[],
  caFile: string | undefined,
): readonly EnvoyJson[] {
  const { endpoint } = config.telemetry.tracing;
  return [
    workerCluster(config, authzEndpoints, EXT_AUTHZ_CLUSTER, checks(authzEndpoints.length)),
    workerCluster(
      config,
      authzEndpoints,
      EXT_AUTHZ_ANONYMOUS_CLUSTER,
      anonymousChecks(authzEndpoints.length),
    ),
    workerCluster(config, authzEndpoints, ACCESS_LOG_CLUSTER, ACCESS_LOG_STREAMS),
    ...(asksFirstMessages(config) ? authzEndpoints.map(ownWorkerCluster) : []),
    ...backendsOf(config).flatMap((backend) => backendClusters(config, backend, caFile)),
    ...(endpoint === undefined
      ? []
      : [{ ...peer(TRACING_CLUSTER, endpoint, caFile), connect_timeout: "1s" }]),
  ];
}

/** No limit here: requests are limited elsewhere. */
const UNLIMITED = 1_000_000;

/** Concurrent retries of access log streams. */
const MOST_RETRIES = 1000;

/** Anonymous checks per worker, from all Envoy threads together; there is one thread per core. */
const MOST_ANONYMOUS = 256;

/** The least number of checks that may be under way at first, with and without a credential. */
const FIRST_MOST = 16_384;
const FIRST_MOST_ANONYMOUS = 1_024;

/**
 * The clusters of checks, with how many checks Envoy sends to a worker before others wait in Envoy (0: all of them), and how many
 * may be under way at first.
 */
export const CHECK_CLUSTERS = [
  { name: EXT_AUTHZ_CLUSTER, mostAtWorker: 0, first: FIRST_MOST },
  { name: EXT_AUTHZ_ANONYMOUS_CLUSTER, mostAtWorker: MOST_ANONYMOUS, first: FIRST_MOST_ANONYMOUS },
] as const;

/**
 * How many checks may be under way at once in a cluster, until it is known how many the workers can answer in time; the gateway's
 * supervisor adjusts this (check-limits.ts). Envoy answers any more with 503 immediately.
 *
 * @param first - the least
 */
export function mostChecks(workers: number, first: number): number {
  return Math.max(first, 512 * workers);
}

function checks(workers: number): EnvoyJson {
  const most = mostChecks(workers, FIRST_MOST);
  return {
    typed_extension_protocol_options: http2({}),
    // if a worker dies, all its checks are repeated at once
    circuit_breakers: limits({ requests: most, retries: most }),
  };
}

/** Fewer at a worker at once, over one connection per Envoy thread, so that a flood waits in Envoy and nobody behind it. */
function anonymousChecks(workers: number): EnvoyJson {
  const most = mostChecks(workers, FIRST_MOST_ANONYMOUS);
  return {
    typed_extension_protocol_options: http2({
      max_concurrent_streams: Math.max(8, Math.floor(MOST_ANONYMOUS / availableParallelism())),
    }),
    circuit_breakers: limits({
      connections: 1,
      requests: UNLIMITED,
      waiting: most,
      retries: most,
    }),
  };
}

const ACCESS_LOG_STREAMS: EnvoyJson = {
  typed_extension_protocol_options: http2({}),
  circuit_breakers: limits({ requests: UNLIMITED, retries: MOST_RETRIES }),
};

/** Whether the first messages of connections may say who their clients are. */
export function asksFirstMessages({ identity }: GatewayConfig): boolean {
  return identity.connection_params.length > 0;
}

/**
 * A single worker: only the one that has decided on a handshake knows the connection. It has no health checks, because no
 * other worker could answer.
 */
function ownWorkerCluster(endpoint: AuthzEndpoint, worker: number): EnvoyJson {
  const name = ownClusterOf(worker);
  return {
    name,
    type: "STATIC",
    connect_timeout: "0.250s",
    load_assignment: loadAssignment(name, [addressOf(endpoint)]),
    typed_extension_protocol_options: http2({}),
    circuit_breakers: limits({ requests: FIRST_MOST_ANONYMOUS }),
  };
}

/** One endpoint per worker: each Envoy thread keeps one connection to each, and a process serves few connections best. */
function workerCluster(
  config: GatewayConfig,
  endpoints: readonly AuthzEndpoint[],
  name: string,
  connections: EnvoyJson,
): EnvoyJson {
  const interval = seconds(config.gateway.cluster.health_check_interval);
  return {
    name,
    type: "STATIC",
    connect_timeout: "0.250s",
    lb_policy: "LEAST_REQUEST",
    // if no worker is healthy, none is called: the response is 503 at once
    common_lb_config: { healthy_panic_threshold: { value: 0 } },
    load_assignment: loadAssignment(name, endpoints.map(addressOf)),
    health_checks: [
      {
        timeout: "1s",
        interval,
        // a worker that starts to serve, or serves again, is detected within half a second
        no_traffic_interval: "0.500s",
        no_traffic_healthy_interval: interval,
        unhealthy_interval: "0.500s",
        unhealthy_threshold: 2,
        healthy_threshold: 1,
        grpc_health_check: {},
      },
    ],
    close_connections_on_host_health_failure: true,
    ...connections,
  };
}

function addressOf(endpoint: AuthzEndpoint): EnvoyJson {
  return "unixSocket" in endpoint
    ? { pipe: { path: endpoint.unixSocket } }
    : socketAddress(endpoint.address, endpoint.port);
}

function backendClusters(
  config: GatewayConfig,
  backend: Backend,
  caFile: string | undefined,
): readonly EnvoyJson[] {
  const { upstream_idle_timeout: idleTimeout, upstream_timeout: timeout } = config.gateway;
  const options = { common_http_protocol_options: { idle_timeout: seconds(idleTimeout) } };
  const cluster = (name: string): EnvoyJson => ({
    ...peer(name, backend.url, config.gateway.backend_ca ?? caFile, options),
    connect_timeout: seconds(Math.min(5000, timeout)),
    circuit_breakers: limits(underWay(config.gateway.performance.connection_pool_size)),
  });
  const upgrades = cluster(backend.upgradeCluster);
  const tls = new URL(backend.url).protocol === "https:";
  return [
    cluster(backend.cluster),
    tls ? { ...upgrades, typed_extension_protocol_options: http1(options) } : upgrades,
  ];
}

/**
 * The server at a URL: http uses HTTP/1.1, h2c HTTP/2, https the protocol negotiated by ALPN; its name is verified.
 *
 * @param options - Envoy's HttpProtocolOptions for any version of HTTP
 */
function peer(name: string, url: string, caFile: string | undefined, options: EnvoyJson = {}): EnvoyJson {
  const { protocol: scheme, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const address = socketAddress(host, Number(port || (scheme === "https:" ? 443 : 80)));
  const base = {
    name,
    ...(isIP(host) === 0 ? { type: "STRICT_DNS", dns_lookup_family: "V4_PREFERRED" } : { type: "STATIC" }),
    load_assignment: loadAssignment(name, [address]),
  };
  if (scheme === "h2c:") {
    return {
      ...base,
      typed_extension_protocol_options: http2({ allow_connect: true }, options),
    };
  }
  if (scheme === "http:") return { ...base, typed_extension_protocol_options: http1(options) };
  if (caFile === undefined) throw new Error(`no certificate authorities to verify ${url} with`);
  return {
    ...base,
    typed_extension_protocol_options: protocol({
      ...options,
      auto_config: { http_protocol_options: HTTP1, http2_protocol_options: {} },
    }),
    transport_socket: verifiedTls(host, caFile),
  };
}

function verifiedTls(host: string, caFile: string): EnvoyJson {
  const isAddress = isIP(host) !== 0;
  return extension(
    "envoy.transport_sockets.tls",
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    {
      // RFC 6066 section 3: not for literal addresses
      ...(isAddress ? {} : { sni: host }),
      common_tls_context: {
        tls_params: { tls_minimum_protocol_version: "TLSv1_2" },
        validation_context: {
          trusted_ca: { filename: caFile },
          match_typed_subject_alt_names: [
            { san_type: isAddress ? "IP_ADDRESS" : "DNS", matcher: { exact: host } },
          ],
        },
      },
    },
  );
}

function protocol(options: EnvoyJson): EnvoyJson {
  const name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  return { [name]: typed(name, options) };
}

/** Trailers of responses. */
const HTTP1: EnvoyJson = { enable_trailers: true };

function http1(options: EnvoyJson): EnvoyJson {
  return protocol({ ...options, explicit_http_config: { http_protocol_options: HTTP1 } });
}

function http2(http2Options: EnvoyJson, options: EnvoyJson = {}): EnvoyJson {
  return protocol({ ...options, explicit_http_config: { http2_protocol_options: http2Options } });
}

function loadAssignment(name: string, addresses: readonly EnvoyJson[]): EnvoyJson {
  return {
    cluster_name: name,
    endpoints: [{ lb_endpoints: addresses.map((address) => ({ endpoint: { address } })) }],
  };
}

/**
 * Limits concurrent requests, without a queue, because a request may last for hours. A few more connections are allowed: a
 * request above the limit is refused only when it has a connection.
 */
function underWay(requests: number): Limits {
  return { requests, connections: requests + Math.ceil(requests / 16) };
}

interface Limits {
  readonly requests: number;
  /** Default: the same as requests. */
  readonly connections?: number;
  /** Requests that wait for a free connection. Default: the same as requests. */
  readonly waiting?: number;
  readonly retries?: number;
}

/** Per cluster, for all Envoy threads together. */
function limits({ requests, connections = requests, waiting = requests, retries = 0 }: Limits): EnvoyJson {
  return {
    thresholds: [
      {
        max_connections: connections,
        max_pending_requests: waiting,
        max_requests: requests,
        max_retries: retries,
      },
    ],
  };
}
