import { join } from "node:path";
import { startEnvoy, type EnvoyJson } from "../src/gateway/index.ts";
import { envoyBinary } from "../test/support/envoy.ts";

export interface BenchEnvoy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Runs an Envoy with a configuration whose listener is named `gateway` and uses any free port. */
export async function startBenchEnvoy(
  directory: string,
  name: string,
  bootstrap: EnvoyJson,
): Promise<BenchEnvoy> {
  const silent = () => undefined;
  const envoy = await startEnvoy({
    binary: await envoyBinary(),
    runtimeDirectory: join(directory, name),
    log: { info: silent, warn: silent, error: silent },
    bootstrap,
  });
  return { url: `http://127.0.0.1:${envoy.listenPort}`, stop: () => envoy.stop(0) };
}

/** Envoy as an application that responds to every request with `{}`. */
export function fixedAnswer(): EnvoyJson {
  const route = { match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "{}" } } };
  return { static_resources: { listeners: [listener(route)] } };
}

/** Envoy as a plain proxy, including WebSocket: the upper limit for any gateway built on it. */
export function proxyTo(upstream: string): EnvoyJson {
  const { hostname, port } = new URL(upstream);
  const cluster = {
    name: "upstream",
    type: "STATIC",
    circuit_breakers: { thresholds: [UNLIMITED] },
    load_assignment: {
      cluster_name: "upstream",
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(Number(port), hostname) } }] }],
    },
  };
  const route = { match: { prefix: "/" }, route: { cluster: "upstream", timeout: "0s" } };
  return { static_resources: { listeners: [listener(route)], clusters: [cluster] } };
}

/** Envoy's defaults are 1,024 of each. */
const UNLIMITED: EnvoyJson = {
  ...{ max_connections: 100_000, max_pending_requests: 100_000, max_requests: 100_000 },
};

function listener(route: EnvoyJson): EnvoyJson {
  const router = { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" };
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "bench",
    upgrade_configs: [{ upgrade_type: "websocket" }],
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] },
    http_filters: [{ name: "envoy.filters.http.router", typed_config: router }],
  };
  return {
    name: "gateway",
    address: address(0),
    filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }],
  };
}

function address(port: number, host = "127.0.0.1"): EnvoyJson {
  return { socket_address: { address: host, port_value: port } };
}
