import { filterOf, managerOf, routesOf, type Loose } from "../support.ts";
import {
  EXT_AUTHZ,
  BODY_CHECK,
  OFF,
  HCM,
  both,
  AUTHZ_OFF,
  openRoute,
  insert,
  otherService,
  http3Listener,
  inScopes,
  tcpListener,
  withoutChecks,
  type NamedHole,
} from "./support.ts";

export const COVERAGE_HOLES: readonly NamedHole[] = [
  [
    "EXT_AUTHZ_MISSING",
    "the filters were removed",
    {
      plant: (b) =>
        (managerOf(b).http_filters = managerOf(b).http_filters.filter(
          ({ name }: Loose) => ![EXT_AUTHZ, BODY_CHECK].includes(name),
        )),
    },
  ],
  [
    "EXT_AUTHZ_MISSING",
    "another listener has none",
    {
      plant: (b) =>
        b.static_resources.listeners.push({
          name: "internal",
          address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
          filter_chains: [
            {
              filters: [
                {
                  name: "http",
                  typed_config: {
                    ...{ "@type": HCM, stat_prefix: "x", use_remote_address: true },
                    internal_address_config: managerOf(b).internal_address_config,
                    route_config: {
                      virtual_hosts: [
                        {
                          name: "v",
                          domains: ["*"],
                          routes: [{ match: { prefix: "/" }, route: { cluster: "backend" } }],
                        },
                      ],
                    },
                    http_filters: [managerOf(b).http_filters.at(-1)],
                  },
                },
              ],
            },
          ],
        }),
    },
  ],
  [
    "EXT_AUTHZ_MISSING",
    "over HTTP/3",
    {
      plant: (b, world) => {
        const listener = http3Listener(b, world, false);
        const manager = listener.filter_chains[0].filters[0].typed_config;
        manager.http_filters = manager.http_filters.filter(
          ({ name }: Loose) => ![EXT_AUTHZ, BODY_CHECK].includes(name),
        );
        b.static_resources.listeners.push(listener);
      },
    },
  ],
  [
    "EXT_AUTHZ_OFF_ON_ROUTE",
    "in one of two scopes of routes",
    { plant: (b) => inScopes(b).virtual_hosts[0].routes.unshift(openRoute({ match: { prefix: "/" } })) },
  ],
  [
    "EXT_AUTHZ_ASKS_OTHERS",
    "a second filter asks another service",
    {
      plant: (b) => {
        b.static_resources.clusters.push(otherService(b));
        const other = structuredClone(filterOf(b, EXT_AUTHZ));
        other.name = "opa";
        other.typed_config.grpc_service.envoy_grpc.cluster_name = "opa";
        insert(b, EXT_AUTHZ, other);
      },
      alone: true,
    },
  ],
  [
    "EXT_AUTHZ_OFF_ON_ROUTE",
    "on every path of a route",
    { plant: (b) => routesOf(b).unshift(openRoute({ match: { prefix: "/" } })) },
  ],
  [
    "EXT_AUTHZ_OFF_ON_ROUTE",
    "on a virtual host, as FilterConfig",
    {
      plant: (b) => {
        for (const route of routesOf(b)) withoutChecks(route.typed_per_filter_config);
        managerOf(b).route_config.virtual_hosts[0].typed_per_filter_config = {
          [EXT_AUTHZ]: OFF,
          [BODY_CHECK]: OFF,
        };
      },
      found: ["EXT_AUTHZ_OFF_ON_ROUTE", "LUA_MISSING"],
    },
  ],
  [
    "EXT_AUTHZ_OFF_ON_ROUTE",
    "on a weighted cluster",
    {
      plant: (b) =>
        routesOf(b).unshift({
          match: { prefix: "/" },
          route: {
            weighted_clusters: {
              clusters: [
                { name: "backend", weight: 1 },
                { name: "backend_upgrades", weight: 1, typed_per_filter_config: AUTHZ_OFF },
              ],
            },
          },
        }),
    },
  ],
  [
    "EXT_AUTHZ_OFF_ON_ROUTE",
    "the filters are off by default",
    {
      plant: (b) => {
        for (const name of [EXT_AUTHZ, BODY_CHECK]) filterOf(b, name).disabled = true;
        withoutChecks(routesOf(b).at(-1).typed_per_filter_config);
      },
    },
  ],
  [
    "EXT_AUTHZ_SOMETIMES",
    "for half of the requests",
    {
      plant: (b) => {
        for (const one of both(b))
          one.filter_enabled = { default_value: { numerator: 50, denominator: "HUNDRED" } };
      },
    },
  ],
  [
    "EXT_AUTHZ_SOMETIMES",
    "a runtime key",
    {
      plant: (b) =>
        (both(b)[0].filter_enabled = {
          runtime_key: "authz.on",
          default_value: { numerator: 100, denominator: "HUNDRED" },
        }),
    },
  ],
  [
    "EXT_AUTHZ_SOMETIMES",
    "metadata of another filter",
    {
      plant: (b) =>
        (both(b)[0].filter_enabled_metadata = {
          filter: "jwt",
          path: [{ key: "x" }],
          value: { bool_match: true },
        }),
    },
  ],
  ["EXT_AUTHZ_OPTIONAL", "an optional filter", { plant: (b) => (filterOf(b, EXT_AUTHZ).is_optional = true) }],
  [
    "ANSWERED_BEFORE_CHECK",
    "a cache",
    {
      plant: (b) => {
        insert(b, EXT_AUTHZ, {
          name: "cache",
          typed_config: {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.cache.v3.CacheConfig",
            typed_config: {
              "@type":
                "type.googleapis.com/envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig",
            },
          },
        });
      },
    },
  ],
  [
    "CHANGED_AFTER_CHECK",
    "a script of somebody else's",
    {
      plant: (b) => {
        insert(b, "envoy.filters.http.buffer", {
          name: "rewrite",
          typed_config: {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            default_source_code: {
              inline_string: "function envoy_on_request(h) h:headers():replace(':path', '/admin') end",
            },
          },
        });
      },
    },
  ],
  [
    "FORWARDED_WITHOUT_HTTP",
    "a TCP proxy",
    { plant: (b) => b.static_resources.listeners.push(tcpListener("backend")) },
  ],
  [
    "TUNNEL_ALLOWED",
    "CONNECT",
    {
      plant: (b) => {
        const route = routesOf(b)[0];
        delete route.direct_response;
        route.route = {
          cluster: "backend",
          upgrade_configs: [{ upgrade_type: "CONNECT", connect_config: {} }],
        };
      },
    },
  ],
];
