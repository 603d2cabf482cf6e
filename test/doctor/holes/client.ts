import { EXTENSION } from "../../../src/envoy-contract.ts";
import { managerOf, routesOf, type Loose } from "../support.ts";
import { openRoute, type NamedHole } from "./support.ts";

export const CLIENT_HOLES: readonly NamedHole[] = [
  [
    "CLIENT_ADDRESS_BELIEVED",
    "X-Forwarded-For of anybody",
    { plant: (b) => (managerOf(b).use_remote_address = false) },
  ],
  [
    "CLIENT_ADDRESS_BELIEVED",
    "two hops, and no proxies",
    { plant: (b) => (managerOf(b).xff_num_trusted_hops = 2) },
  ],
  [
    "SCHEME_OVERWRITTEN",
    "without our routes, behind a trusted proxy",
    {
      alone: true,
      overrides: { "gateway.trusted_proxies": ["10.0.0.0/8"] },
      plant: (b) => {
        for (const route of routesOf(b))
          for (const settings of Object.values<Loose>(route.typed_per_filter_config))
            delete settings.check_settings?.context_extensions;
      },
      found: ["SCHEME_OVERWRITTEN", "LUA_MISSING"],
    },
  ],
  [
    "SCHEME_UNKNOWN",
    "on one of our routes, which was written before there were trusted proxies",
    {
      alone: true,
      overrides: { "gateway.trusted_proxies": ["10.0.0.0/8"] },
      plant: (b) => {
        for (const settings of Object.values<Loose>(routesOf(b).at(-1).typed_per_filter_config))
          delete settings.check_settings?.context_extensions?.[EXTENSION.forwardedProto];
      },
    },
  ],
  ["INTERNAL_HEADERS_BELIEVED", "not set", { plant: (b) => delete managerOf(b).internal_address_config }],
  [
    "INTERNAL_HEADERS_BELIEVED",
    "a whole network",
    {
      plant: (b) =>
        (managerOf(b).internal_address_config = {
          cidr_ranges: [{ address_prefix: "10.0.0.0", prefix_len: 8 }],
        }),
    },
  ],
  [
    "IDENTITY_HEADERS_FROM_CLIENTS",
    "not removed where nothing is decided",
    {
      plant: (b) => {
        const [early] = managerOf(b).early_header_mutation_extensions;
        early.typed_config.mutations = early.typed_config.mutations.filter(
          ({ remove }: Loose) => remove !== "x-user-id",
        );
        routesOf(b).unshift(openRoute({ match: { prefix: "/" } }));
      },
      found: ["EXT_AUTHZ_OFF_ON_ROUTE", "IDENTITY_HEADERS_FROM_CLIENTS"],
    },
  ],
  [
    "IDENTITY_HEADER_REPLACED",
    "by the route",
    {
      plant: (b) =>
        (routesOf(b).at(-1).request_headers_to_add = [
          { header: { key: "X-User-Id", value: "%REQ(x-me)%" } },
        ]),
    },
  ],
  [
    "PATH_NOT_NORMALIZED",
    "beside an open path",
    {
      plant: (b) => routesOf(b).unshift(openRoute()),
      found: ["EXT_AUTHZ_OFF_ON_ROUTE", "PATH_NOT_NORMALIZED"],
    },
  ],
  ["PATH_REWRITTEN", "a prefix", { plant: (b) => (routesOf(b).at(-1).route.prefix_rewrite = "/api/") }],
  [
    "REQUEST_TRAILERS_KEPT",
    "nothing removes them",
    {
      plant: (b) =>
        (managerOf(b).http_filters = managerOf(b).http_filters.filter(
          ({ name }: Loose) => name !== "envoy.filters.http.header_mutation",
        )),
    },
  ],
];
