import assert from "node:assert/strict";

type Json = Record<string, unknown>;

/** One of `spec.configPatches` of an EnvoyFilter. */
export interface ConfigPatch {
  readonly applyTo: string;
  readonly match: Json;
  readonly patch: { readonly operation: string; readonly value: Json };
}

/** Protocol buffers merge so: messages by field, lists one after the other, everything else replaced. */
function merge(into: Json, value: Json): Json {
  const merged = { ...into };
  for (const [key, added] of Object.entries(value)) {
    const there = merged[key];
    if (Array.isArray(there) && Array.isArray(added))
      merged[key] = [...(there as unknown[]), ...(added as unknown[])];
    else if (isMap(there) && isMap(added)) merged[key] = merge(there, added);
    else merged[key] = added;
  }
  return merged;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);

interface Named extends Json {
  name?: string;
}

/** What the sidecar of a workload has for one port before anybody patches it, in the shape that Istio gives it. */
export function sidecarBootstrap({
  listen,
  port,
  admin,
}: {
  listen: number;
  port: number;
  admin: number;
}): Json {
  const address = (of: number) => ({ socket_address: { address: "127.0.0.1", port_value: of } });
  const cluster = `inbound|${port}||`;
  return {
    node: { id: "sidecar~127.0.0.1~orders.shop~shop.svc.cluster.local", cluster: "orders.shop" },
    admin: { address: address(admin) },
    static_resources: {
      listeners: [
        {
          name: "virtualInbound",
          traffic_direction: "INBOUND",
          address: address(listen),
          filter_chains: [
            {
              name: `127.0.0.1_${port}`,
              filters: [
                {
                  name: "envoy.filters.network.http_connection_manager",
                  typed_config: {
                    "@type":
                      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                    stat_prefix: `inbound_0.0.0.0_${port};`,
                    use_remote_address: false,
                    normalize_path: true,
                    path_with_escaped_slashes_action: "KEEP_UNCHANGED",
                    server_name: "istio-envoy",
                    server_header_transformation: "PASS_THROUGH",
                    stream_idle_timeout: "0s",
                    upgrade_configs: [{ upgrade_type: "websocket" }],
                    http_filters: [
                      {
                        name: "envoy.filters.http.cors",
                        typed_config: {
                          "@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors",
                        },
                      },
                      {
                        name: "envoy.filters.http.router",
                        typed_config: {
                          "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
                        },
                      },
                    ],
                    route_config: {
                      name: cluster,
                      validate_clusters: false,
                      virtual_hosts: [
                        {
                          name: `inbound|http|${port}`,
                          domains: ["*"],
                          routes: [
                            {
                              name: "default",
                              match: { prefix: "/" },
                              route: { cluster, timeout: "0s" },
                              decorator: { operation: `orders.shop.svc.cluster.local:${port}/*` },
                            },
                          ],
                        },
                      ],
                    },
                  },
                },
              ],
            },
          ],
        },
      ],
      clusters: [
        {
          name: cluster,
          type: "STATIC",
          load_assignment: {
            cluster_name: cluster,
            endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
          },
        },
      ],
    },
  };
}

/**
 * Applies patches as Istio does to the inbound listener of a sidecar. Each must find its place: Istio itself would say nothing.
 */
export function applyPatches(bootstrap: Json, patches: readonly ConfigPatch[]): Json {
  const result = structuredClone(bootstrap);
  const resources = result["static_resources"] as { clusters: Json[]; listeners: unknown };
  const filters = at(resources.listeners, 0, "filter_chains", 0, "filters") as Named[];
  const manager = () => at(filters, 0, "typed_config") as { http_filters: Named[]; route_config: Json };
  const insertBefore = (list: Named[], name: unknown, value: Json) => {
    const index = list.findIndex((one) => one.name === name);
    assert.ok(index >= 0, `there is no ${String(name)}`);
    list.splice(index, 0, value);
  };
  for (const { applyTo, match, patch } of patches) {
    const { operation, value } = patch;
    assert.equal(match["context"], "SIDECAR_INBOUND");
    const filter = at(match, "listener", "filterChain", "filter");
    if (filter !== undefined) assert.equal(at(filter, "name"), filters[0]?.name);
    switch (`${applyTo} ${operation}`) {
      case "CLUSTER ADD":
        resources.clusters.push(value);
        break;
      case "NETWORK_FILTER MERGE":
        filters[0] = merge(filters[0] ?? {}, value);
        break;
      case "HTTP_FILTER INSERT_BEFORE":
        insertBefore(manager().http_filters, at(filter, "subFilter", "name"), value);
        break;
      case "ROUTE_CONFIGURATION MERGE":
        Object.assign(manager().route_config, merge(manager().route_config, value));
        break;
      case "HTTP_ROUTE INSERT_BEFORE": {
        const wanted = at(match, "routeConfiguration", "vhost") as { name: string; route: { name: string } };
        const hosts = manager().route_config["virtual_hosts"] as (Named & { routes: Named[] })[];
        const host = hosts.find(({ name }) => name === wanted.name);
        assert.ok(host !== undefined, `there is no ${wanted.name}`);
        insertBefore(host.routes, wanted.route.name, value);
        break;
      }
      default:
        assert.fail(`${applyTo} ${operation}`);
    }
  }
  return result;
}
