import { isIP } from "node:net";
import type { GatewayConfig } from "../config/index.ts";
import { extension, seconds, socketAddress, typed } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";

export const EXT_AUTHZ_CLUSTER = "ext_authz";
export const TRACING_CLUSTER = "tracing";

/** Where one ext_authz worker listens. */
export type AuthzEndpoint =
  { readonly unixSocket: string } | { readonly address: string; readonly port: number };

export interface Backend {
  readonly cluster: string;
  readonly url: string;
  /** Chosen by this value of X-Backend-URL; absent: the default. */
  readonly chosenBy?: string;
  /** The backend can take gRPC: it may speak HTTP/2. */
  readonly http2: boolean;
  /** For WebSocket handshakes, which few servers take over HTTP/2 (RFC 8441): `https` in HTTP/1.1. */
  readonly upgradeCluster: string;
}

/** The applications behind the gateway, those that a header chooses first. */
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
  const upgradeCluster = scheme === "https:" ? `${cluster}_upgrades` : cluster;
  return { cluster, url, http2: scheme !== "http:", upgradeCluster };
}

/** @param caFile PEM bundle that `https` peers are verified with. */
export function clusters(
  config: GatewayConfig,
  authzEndpoints: readonly AuthzEndpoint[],
  caFile: string | undefined,
): readonly EnvoyJson[] {
  const { endpoint } = config.telemetry.tracing;
  return [
    extAuthzCluster(config, authzEndpoints),
    ...backendsOf(config).flatMap((backend) => backendClusters(config, backend, caFile)),
    ...(endpoint === undefined
      ? []
      : [{ ...peer(TRACING_CLUSTER, endpoint, caFile), connect_timeout: "1s" }]),
  ];
}

/** One endpoint a worker: Envoy keeps one connection to each, and a process serves one connection best. */
function extAuthzCluster(config: GatewayConfig, endpoints: readonly AuthzEndpoint[]): EnvoyJson {
  const interval = seconds(config.gateway.cluster.health_check_interval);
  return {
    name: EXT_AUTHZ_CLUSTER,
    type: "STATIC",
    connect_timeout: "0.250s",
    lb_policy: "LEAST_REQUEST",
    // where no worker is healthy, none is asked: the answer is 503 at once
    common_lb_config: { healthy_panic_threshold: { value: 0 } },
    load_assignment: loadAssignment(
      EXT_AUTHZ_CLUSTER,
      endpoints.map((endpoint) =>
        "unixSocket" in endpoint
          ? { pipe: { path: endpoint.unixSocket } }
          : socketAddress(endpoint.address, endpoint.port),
      ),
    ),
    health_checks: [
      {
        timeout: "1s",
        interval,
        // a worker that has just begun to serve, or serves again, is found within half a second
        no_traffic_interval: "0.500s",
        no_traffic_healthy_interval: interval,
        unhealthy_interval: "0.500s",
        unhealthy_threshold: 2,
        healthy_threshold: 1,
        grpc_health_check: {},
      },
    ],
    close_connections_on_host_health_failure: true,
    typed_extension_protocol_options: protocol({ explicit_http_config: { http2_protocol_options: {} } }),
    // as many as there are requests: the limit on those is elsewhere
    circuit_breakers: limits(1_000_000, MOST_RETRIES),
  };
}

function backendClusters(
  config: GatewayConfig,
  backend: Backend,
  caFile: string | undefined,
): readonly EnvoyJson[] {
  const cluster = (name: string): EnvoyJson => ({
    ...peer(name, backend.url, config.gateway.backend_ca ?? caFile),
    connect_timeout: seconds(Math.min(5000, config.gateway.upstream_timeout)),
    circuit_breakers: limits(config.gateway.performance.connection_pool_size),
  });
  const own = cluster(backend.cluster);
  if (backend.upgradeCluster === backend.cluster) return [own];
  const http1 = protocol({ explicit_http_config: { http_protocol_options: {} } });
  return [own, { ...cluster(backend.upgradeCluster), typed_extension_protocol_options: http1 }];
}

/** The server that a URL names: http in HTTP/1.1, h2c in HTTP/2, https in what ALPN finds, its name verified. */
function peer(name: string, url: string, caFile: string | undefined): EnvoyJson {
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
      typed_extension_protocol_options: protocol({
        explicit_http_config: { http2_protocol_options: { allow_connect: true } },
      }),
    };
  }
  if (scheme === "http:") return base;
  if (caFile === undefined) throw new Error(`no certificate authorities to verify ${url} with`);
  return {
    ...base,
    typed_extension_protocol_options: protocol({
      auto_config: { http_protocol_options: {}, http2_protocol_options: {} },
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
      // RFC 6066 section 3: no literal addresses
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

function loadAssignment(name: string, addresses: readonly EnvoyJson[]): EnvoyJson {
  return {
    cluster_name: name,
    endpoints: [{ lb_endpoints: addresses.map((address) => ({ endpoint: { address } })) }],
  };
}

/** Checks asked again at a time: enough for a worker's death, too few to drown the others when all are slow. */
const MOST_RETRIES = 1000;

function limits(most: number, retries = 0): EnvoyJson {
  return {
    thresholds: [
      { max_connections: most, max_pending_requests: most, max_requests: most, max_retries: retries },
    ],
  };
}
