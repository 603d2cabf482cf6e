import { filterOf, managerOf, routesOf, type Loose } from "../support.ts";
import { EXT_AUTHZ, BODY_CHECK, both, type NamedHole } from "./support.ts";

export const PLANS_HOLES: readonly NamedHole[] = [
  [
    "PLANS_NOT_ENFORCED",
    "the masks are off on the route for plans",
    {
      plant: (b) => {
        const planned = routesOf(b).find((route) =>
          route.match.headers?.some(({ name }: Loose) => name === "x-gatehouse-plan"),
        );
        planned.typed_per_filter_config["gatehouse.lua.answers"] = {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute",
          disabled: true,
        };
      },
    },
  ],
  [
    "PLANS_NOT_ENFORCED",
    "the filter for messages was removed",
    {
      plant: (b) => {
        managerOf(b).http_filters = managerOf(b).http_filters.filter(
          ({ name }: Loose) => name !== "gatehouse.lua.sockets",
        );
        for (const route of routesOf(b)) delete route.typed_per_filter_config["gatehouse.lua.sockets"];
      },
    },
  ],
  [
    "LUA_MISSING",
    "no route claims plans",
    {
      plant: (b) => {
        for (const route of routesOf(b))
          for (const name of [EXT_AUTHZ, BODY_CHECK])
            delete route.typed_per_filter_config[name].check_settings.context_extensions;
      },
    },
  ],
  [
    "LUA_OF_ANOTHER_RELEASE",
    "code among the settings",
    {
      plant: (b) => {
        const code = filterOf(b, "gatehouse.lua.answers").typed_config.default_source_code;
        code.inline_string = `GATEHOUSE_MS = 1; require = nil\n${code.inline_string as string}`;
      },
    },
  ],
  [
    "LUA_OF_ANOTHER_RELEASE",
    "an edited script",
    {
      plant: (b) =>
        (filterOf(b, "gatehouse.lua.answers").typed_config.default_source_code.inline_string = "-- edited"),
    },
  ],
  [
    "ROUTE_NOT_CHOSEN_AGAIN",
    "the route cache is kept",
    {
      plant: (b) => {
        for (const one of both(b)) delete one.clear_route_cache;
      },
    },
  ],
];
