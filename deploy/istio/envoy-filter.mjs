// Reads what `gatehouse envoy-config` prints, and prints an Istio EnvoyFilter that makes the sidecar of one workload the gateway in
// front of it: see README.md. JSON is YAML, so `kubectl` takes it.
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    name: { type: "string", default: "gatehouse" },
    namespace: { type: "string" },
    /** The label `app` of the workload. */
    app: { type: "string" },
    /** The port on which the workload listens. */
    port: { type: "string" },
  },
});
const { name, namespace, app, port } = values;
if (namespace === undefined || app === undefined || !/^[1-9]\d{0,4}$/.test(port ?? "")) {
  process.stderr.write(
    "usage: gatehouse envoy-config | node envoy-filter.mjs --namespace <namespace> --app <label> --port <port> [--name <name>]\n",
  );
  process.exit(2);
}

const bootstrap = JSON.parse(await text(process.stdin));
const [{ filters }] = bootstrap.static_resources.listeners[0].filter_chains;
const manager = filters[0].typed_config;
const HCM = "envoy.filters.network.http_connection_manager";
/** Istio's name for the application in the pod; the one of its route is `default`. */
const inbound = `inbound|${port}||`;
const routes = manager.route_config.virtual_hosts[0].routes;
const backends = new Set(
  routes.map(({ route }) => route?.cluster).filter((cluster) => cluster !== undefined),
);
if ([...backends].some((cluster) => cluster !== "backend" && cluster !== "backend_upgrades")) {
  process.stderr.write("the workload is the only application: remove `gateway.backends`\n");
  process.exit(2);
}

const listener = (filter) => ({ context: "SIDECAR_INBOUND", listener: { filterChain: { filter } } });
const virtualHost = { name: `inbound|http|${port}` };
const patch = (applyTo, match, operation, value) => ({ applyTo, match, patch: { operation, value } });

/** Istio permits WebSocket on every route: here only the one whose filters check messages may have it. */
const NO_UPGRADES = [{ upgrade_type: "websocket", enabled: false }];
const toApplication = ({ route, ...rest }) =>
  route === undefined
    ? rest
    : { ...rest, route: { upgrade_configs: NO_UPGRADES, ...route, cluster: inbound } };

/** How Envoy reads requests, and what it says itself; the rest is Istio's. */
const OF_THE_MANAGER = [
  "use_remote_address",
  "skip_xff_append",
  "internal_address_config",
  "generate_request_id",
  "preserve_external_request_id",
  "early_header_mutation_extensions",
  "scheme_header_transformation",
  "normalize_path",
  "path_with_escaped_slashes_action",
  "strip_trailing_host_dot",
  "common_http_protocol_options",
  "max_request_headers_kb",
  "request_headers_timeout",
  "request_timeout",
  "stream_idle_timeout",
  "local_reply_config",
  "access_log",
  "access_log_options",
];
const settings = Object.fromEntries(
  OF_THE_MANAGER.filter((key) => manager[key] !== undefined).map((key) => [key, manager[key]]),
);

const configPatches = [
  ...bootstrap.static_resources.clusters
    .filter(({ name: cluster }) => !backends.has(cluster))
    .map((cluster) => patch("CLUSTER", { context: "SIDECAR_INBOUND" }, "ADD", cluster)),
  patch("NETWORK_FILTER", listener({ name: HCM }), "MERGE", {
    name: HCM,
    typed_config: { "@type": manager["@type"], ...settings },
  }),
  ...manager.http_filters
    .filter(({ name: filter }) => filter !== "envoy.filters.http.router")
    .map((filter) =>
      patch(
        "HTTP_FILTER",
        listener({ name: HCM, subFilter: { name: "envoy.filters.http.router" } }),
        "INSERT_BEFORE",
        filter,
      ),
    ),
  patch("ROUTE_CONFIGURATION", { context: "SIDECAR_INBOUND" }, "MERGE", {
    request_headers_to_remove: manager.route_config.request_headers_to_remove,
    response_headers_to_remove: manager.route_config.response_headers_to_remove,
  }),
  ...routes.map((route) =>
    patch(
      "HTTP_ROUTE",
      {
        context: "SIDECAR_INBOUND",
        routeConfiguration: { vhost: { ...virtualHost, route: { name: "default" } } },
      },
      "INSERT_BEFORE",
      toApplication(route),
    ),
  ),
];

const resource = {
  apiVersion: "networking.istio.io/v1alpha3",
  kind: "EnvoyFilter",
  metadata: { name, namespace },
  spec: { workloadSelector: { labels: { app } }, configPatches },
};
process.stdout.write(`${JSON.stringify(resource)}\n`);
