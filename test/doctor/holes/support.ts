import type { ProblemCode } from "../../../src/doctor/index.ts";
import type { Overrides } from "../../gateway/support/gateway.ts";
import { filterOf, managerOf, type Loose } from "../support.ts";

export const EXT_AUTHZ = "envoy.filters.http.ext_authz";
export const BODY_CHECK = "gatehouse.ext_authz.body";
export const PER_ROUTE = "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute";
export const FILTER_CONFIG = "type.googleapis.com/envoy.config.route.v3.FilterConfig";
export const OFF = { "@type": FILTER_CONFIG, disabled: true, config: {} };
export const HCM =
  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

export const both = (bootstrap: Loose) =>
  [filterOf(bootstrap, EXT_AUTHZ), filterOf(bootstrap, BODY_CHECK)].map((one) => one.typed_config);
export const AUTHZ_OFF = {
  [EXT_AUTHZ]: { "@type": PER_ROUTE, disabled: true },
  [BODY_CHECK]: { "@type": PER_ROUTE, disabled: true },
};
export const openRoute = (more: Loose = {}) => ({
  match: { prefix: "/public" },
  route: { cluster: "backend" },
  typed_per_filter_config: AUTHZ_OFF,
  ...more,
});
export const insert = (bootstrap: Loose, before: string, filter: Loose) => {
  const filters = managerOf(bootstrap).http_filters;
  filters.splice(
    filters.findIndex(({ name }: Loose) => name === before),
    0,
    filter,
  );
};
export const cluster = (bootstrap: Loose, name: string) =>
  bootstrap.static_resources.clusters.find((one: Loose) => one.name === name);
export const tcpListener = (name: string) => ({
  name: "tcp",
  address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
  filter_chains: [
    {
      filters: [
        {
          name: "tcp",
          typed_config: {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
            ...{ stat_prefix: "tcp", cluster: name },
          },
        },
      ],
    },
  ],
});
export const movedTo = (one: Loose, host: string) => {
  one.load_assignment.endpoints[0].lb_endpoints[0].endpoint.address = {
    socket_address: { address: host, port_value: 9 },
  };
  return one;
};
export const upstreamTls = (context: Loose) => ({
  name: "tls",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    common_tls_context: context,
  },
});

/** Removes the settings of both checks from a route's or virtual host's. */
export function withoutChecks(settings: Loose): void {
  delete settings["envoy.filters.http.ext_authz"];
  delete settings["gatehouse.ext_authz.body"];
}

/** A cluster of another service that ext_authz could ask: `opa`. */
export function otherService(bootstrap: Loose): Loose {
  const other = structuredClone(cluster(bootstrap, "ext_authz"));
  other.name = "opa";
  other.load_assignment.cluster_name = "opa";
  other.load_assignment.endpoints = [
    {
      lb_endpoints: [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 7 } } } }],
    },
  ];
  return other;
}

/** Our listener over HTTP/3 as well. */
export function http3Listener(bootstrap: Loose, { folder }: World, earlyData: boolean): Loose {
  const listener = structuredClone(bootstrap.static_resources.listeners[0]);
  const file = (name: string) => ({ filename: `${folder}/${name}` });
  const [chain] = listener.filter_chains;
  chain.transport_socket = {
    name: "quic",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport",
      downstream_tls_context: {
        common_tls_context: {
          tls_certificates: [{ certificate_chain: file("certificate.pem"), private_key: file("key.pem") }],
        },
      },
      ...(!earlyData && { enable_early_data: false }),
    },
  };
  const manager = chain.filters[0].typed_config;
  manager.codec_type = "HTTP3";
  manager.http3_protocol_options = {};
  listener.name = "http3";
  listener.address.socket_address.protocol = "UDP";
  listener.address.socket_address.port_value = 0;
  listener.udp_listener_config = { quic_options: {} };
  // of TCP alone
  for (const name of [
    "listener_filters",
    "tcp_backlog_size",
    "connection_balance_config",
    "enable_reuse_port",
  ])
    listener[name] = undefined;
  return listener;
}

/** The routes as those of a scope, chosen by a header. */
export function inScopes(bootstrap: Loose): Loose {
  const manager = managerOf(bootstrap);
  const { route_config: routes } = manager;
  delete manager.route_config;
  const scope = (name: string, route_configuration: Loose) => ({
    ...{ name, route_configuration },
    key: { fragments: [{ string_key: name }] },
  });
  const other = structuredClone(routes);
  other.name = "other";
  manager.scoped_routes = {
    name: "scopes",
    scope_key_builder: {
      fragments: [{ header_value_extractor: { name: "x-scope", index: 0 } }],
    },
    scoped_route_configurations_list: {
      scoped_route_configurations: [scope("first", { ...routes, name: "first" }), scope("second", other)],
    },
  };
  return other;
}

/** What is done to a bootstrap of ours, and what the doctor then finds. */
export interface Hole {
  readonly plant: (bootstrap: Loose, world: World) => void;
  /** It is in a cluster or in the admin interface, so it needs an Envoy of its own. */
  readonly alone?: true;
  /** What is found; default: what the hole is named for. */
  readonly found?: readonly ProblemCode[];
  readonly overrides?: Overrides;
}
export type NamedHole = readonly [code: ProblemCode, name: string, hole: Hole];

/** What a hole may use. */
export interface World {
  /** With `certificate.pem`. */
  readonly folder: string;
  readonly adminPort: number;
}
