import { at, listAt, objectAt, textAt, typedAt, type Json } from "./dump.ts";
import { routeConfigsOf, scopesOf, type Scopes } from "./route-configs.ts";
import { routesOf, type RouteView } from "./route-view.ts";

/** A filter of an HTTP connection manager, as it runs. */
export interface FilterView {
  readonly name: string;
  /** The message of its configuration, without the package: `ExtAuthz`. Empty if the dump does not have it. */
  readonly type: string;
  readonly config: Json;
  /** Off, unless a route turns it on. */
  readonly isOff: boolean;
  readonly isOptional: boolean;
  /** A matcher decides for each request whether it runs. */
  readonly isMatched: boolean;
}

/** HTTP on one filter chain of a listener: what a client can reach. */
export interface HttpChain {
  /** `listener a / filter chain b`. */
  readonly where: string;
  readonly address: Address;
  /** The TLS context; `undefined` without TLS. */
  readonly tls: Json | undefined;
  /** TLS takes requests before its handshake has ended (0-RTT), which somebody else may have recorded. */
  readonly takesEarlyData: boolean;
  readonly manager: Json;
  readonly filters: readonly FilterView[];
  /** `undefined` if the dump does not have them. */
  readonly routes: readonly RouteView[] | undefined;
  readonly routeConfig: Json | undefined;
}

/** A filter chain that forwards connections without reading HTTP. */
export interface TcpChain {
  readonly where: string;
  readonly clusters: readonly string[];
}

/** A socket address; `host` is empty for a Unix socket. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ClusterView {
  readonly name: string;
  readonly config: Json;
  readonly endpoints: readonly Address[];
  /** The TLS context; `undefined` without TLS. */
  readonly tls: Json | undefined;
}

/** What an Envoy serves, from its config_dump. */
export interface EnvoyView {
  readonly chains: readonly HttpChain[];
  readonly tcp: readonly TcpChain[];
  readonly clusters: ReadonlyMap<string, ClusterView>;
  /** The bootstrap; `undefined` if the dump does not have it. */
  readonly bootstrap: Json | undefined;
  /** Updates that Envoy has refused, by resource. */
  readonly refused: readonly { readonly where: string; readonly error: string }[];
  /** What the dump lacks. */
  readonly gaps: readonly { readonly where: string; readonly detail: string }[];
}

/** Forwarding of what a sidecar's own application asks of others: Gatehouse guards what comes in. */
const OUTBOUND = "OUTBOUND";

/**
 * Reads the answer of Envoy's `GET /config_dump?include_eds`, of any Envoy: with static resources or ones that a control plane
 * has sent. Listeners for outbound traffic of a sidecar are left out.
 *
 * @throws TypeError if it is not a config_dump
 */
export function readConfigDump(dump: unknown): EnvoyView {
  const sections = listAt(dump, "configs");
  if (!sections.some((section) => typedAt(section)?.type.endsWith("ConfigDump") === true))
    throw new TypeError("not a config_dump of Envoy: it has no `configs`");
  const gaps: { where: string; detail: string }[] = [];
  const section = (type: string) => sections.filter((one) => typedAt(one)?.type === type);
  const routeConfigs = new Map(
    section("RoutesConfigDump").flatMap((one) =>
      [...listAt(one, "static_route_configs"), ...listAt(one, "dynamic_route_configs")].flatMap((entry) => {
        const config = objectAt(entry, "route_config");
        return config === undefined ? [] : [[textAt(config, "name") ?? "", config] as const];
      }),
    ),
  );
  const scopes = scopesOf(section("ScopedRoutesConfigDump"));
  const discovered = new Map(
    section("EcdsConfigDump").flatMap((one) =>
      listAt(one, "ecds_filters").flatMap((entry) => {
        const filter = objectAt(entry, "ecds_filter");
        return filter === undefined ? [] : [[textAt(filter, "name") ?? "", filter] as const];
      }),
    ),
  );
  const chains: HttpChain[] = [];
  const tcp: TcpChain[] = [];
  for (const listener of section("ListenersConfigDump").flatMap(listenersIn)) {
    if (textAt(listener, "traffic_direction") === OUTBOUND) continue;
    const read = { listener, routeConfigs, scopes, discovered, gaps };
    for (const [index, chain] of chainsOf(listener).entries()) readChain(read, chain, index, { chains, tcp });
  }
  if (section("ListenersConfigDump").length === 0)
    gaps.push({ where: "listeners", detail: "not in the dump" });
  const endpoints = new Map(
    section("EndpointsConfigDump").flatMap((one) =>
      [...listAt(one, "static_endpoint_configs"), ...listAt(one, "dynamic_endpoint_configs")].map((entry) => {
        const config = objectAt(entry, "endpoint_config");
        return [textAt(config, "cluster_name") ?? "", addressesOf(config)] as const;
      }),
    ),
  );
  const clusters = new Map(
    section("ClustersConfigDump")
      .flatMap((one) => [...listAt(one, "static_clusters"), ...listAt(one, "dynamic_active_clusters")])
      .flatMap((entry) => {
        const config = objectAt(entry, "cluster");
        const name = textAt(config, "name");
        if (config === undefined || name === undefined) return [];
        const known = [...addressesOf(objectAt(config, "load_assignment")), ...(endpoints.get(name) ?? [])];
        return [
          [name, { name, config, endpoints: unique(known), tls: tlsOf(config, gaps, `cluster ${name}`) }],
        ] as const;
      }),
  );
  return {
    ...{ chains, tcp, clusters, gaps },
    bootstrap: section("BootstrapConfigDump").map((one) => objectAt(one, "bootstrap"))[0],
    refused: sections.flatMap(refusedIn),
  };
}

function listenersIn(section: Json): readonly Json[] {
  const fixed = listAt(section, "static_listeners").map((entry) => objectAt(entry, "listener"));
  const sent = listAt(section, "dynamic_listeners").map((entry) =>
    objectAt(entry, "active_state", "listener"),
  );
  return [...fixed, ...sent].filter((listener) => listener !== undefined);
}

/** A listener may have a chain for all connections that match no other. */
function chainsOf(listener: Json): readonly Json[] {
  return [...listAt(listener, "filter_chains"), ...listAt(listener, "default_filter_chain")];
}

interface Reading {
  readonly listener: Json;
  readonly routeConfigs: ReadonlyMap<string, Json>;
  readonly scopes: Scopes;
  readonly discovered: ReadonlyMap<string, Json>;
  readonly gaps: { where: string; detail: string }[];
}

function readChain(
  { listener, routeConfigs, scopes, discovered, gaps }: Reading,
  chain: Json,
  index: number,
  into: { readonly chains: HttpChain[]; readonly tcp: TcpChain[] },
): void {
  const where = `listener ${textAt(listener, "name") ?? "(unnamed)"} / filter chain ${textAt(chain, "name") ?? String(index)}`;
  for (const filter of listAt(chain, "filters")) {
    const typed = typedAt(filter, "typed_config");
    if (typed?.type === "HttpConnectionManager") {
      const { config: manager } = typed;
      const read = {
        manager,
        address: addressOf(objectAt(listener, "address")) ?? { host: "", port: 0 },
        tls: tlsOf(chain, gaps, where),
        takesEarlyData: takesEarlyData(chain),
        filters: listAt(manager, "http_filters").map((one) => filterOf(one, discovered, gaps, where)),
      };
      for (const { scope, routeConfig } of routeConfigsOf(manager, { routeConfigs, scopes })) {
        const place = scope === undefined ? where : `${where} / scope ${scope}`;
        if (routeConfig === undefined) gaps.push({ where: place, detail: "its routes are not in the dump" });
        else if (objectAt(routeConfig, "vhds") !== undefined)
          gaps.push({
            where: place,
            detail: "virtual hosts are sent on demand (VHDS); those of no request yet are not in the dump",
          });
        into.chains.push({
          ...{ ...read, where: place, routeConfig, routes: routeConfig && routesOf(routeConfig) },
        });
      }
    } else if (typed?.type === "TcpProxy") {
      const weighted = listAt(typed.config, "weighted_clusters", "clusters").map((one) =>
        textAt(one, "name"),
      );
      const clusters = [textAt(typed.config, "cluster"), ...weighted].filter((name) => name !== undefined);
      into.tcp.push({ where, clusters });
    }
  }
}

function filterOf(
  filter: Json,
  discovered: ReadonlyMap<string, Json>,
  gaps: Reading["gaps"],
  where: string,
): FilterView {
  const name = textAt(filter, "name") ?? "";
  const outer = typedAt(filter, "typed_config") ?? typedAt(discovered.get(name), "typed_config");
  const isMatched = outer?.type === "ExtensionWithMatcher";
  const typed = isMatched ? typedAt(outer.config, "extension_config", "typed_config") : outer;
  if (typed === undefined)
    gaps.push({ where, detail: `the configuration of the filter ${name} is not in the dump` });
  return {
    ...{ name, isMatched },
    type: typed?.type ?? "",
    config: typed?.config ?? {},
    isOff: at(filter, "disabled") === true,
    isOptional: at(filter, "is_optional") === true,
  };
}

/** Of a filter chain or a cluster. */
function tlsOf(owner: Json, gaps: Reading["gaps"], where: string): Json | undefined {
  const socket = objectAt(owner, "transport_socket");
  if (socket === undefined) return undefined;
  const typed = typedAt(socket, "typed_config");
  if (typed?.type === "RawBuffer") return undefined;
  if (typed?.type === "QuicDownstreamTransport")
    return objectAt(typed.config, "downstream_tls_context") ?? {};
  if (typed?.type === "DownstreamTlsContext" || typed?.type === "UpstreamTlsContext") return typed.config;
  gaps.push({ where, detail: `the transport socket ${textAt(socket, "name") ?? ""} is not known` });
  return {};
}

/** Envoy's default for QUIC; over TCP it never does. */
function takesEarlyData(chain: Json): boolean {
  const typed = typedAt(chain, "transport_socket", "typed_config");
  return typed?.type === "QuicDownstreamTransport" && at(typed.config, "enable_early_data") !== false;
}

function addressesOf(assignment: Json | undefined): readonly Address[] {
  return listAt(assignment, "endpoints").flatMap((locality) =>
    listAt(locality, "lb_endpoints").flatMap(
      (entry) => addressOf(objectAt(entry, "endpoint", "address")) ?? [],
    ),
  );
}

export function addressOf(address: Json | undefined): Address | undefined {
  if (objectAt(address, "pipe") !== undefined) return { host: "", port: 0 };
  const socket = objectAt(address, "socket_address");
  const host = textAt(socket, "address");
  const port = at(socket, "port_value");
  return host === undefined ? undefined : { host, port: typeof port === "number" ? port : 0 };
}

function unique(addresses: readonly Address[]): readonly Address[] {
  return [...new Map(addresses.map((address) => [`${address.host} ${address.port}`, address])).values()];
}

/** Each resource that a control plane has sent may have an `error_state`. */
function refusedIn(section: Json): readonly { where: string; error: string }[] {
  return Object.keys(section).flatMap((list) =>
    listAt(section, list).flatMap((entry) => {
      const details = textAt(entry, "error_state", "details");
      if (details === undefined) return [];
      const name =
        textAt(entry, "name") ?? textAt(entry, "cluster", "name") ?? textAt(entry, "route_config", "name");
      return [{ where: `${list.replace(/^dynamic_/, "")} ${name ?? ""}`.trim(), error: details }];
    }),
  );
}
