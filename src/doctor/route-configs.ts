import { listAt, objectAt, textAt, type Json } from "./dump.ts";

/** Scopes of requests that have routes of their own, by the name of `scoped_routes`. */
export type Scopes = ReadonlyMap<string, readonly Json[]>;

/** The routes of a connection manager. */
export interface RouteConfig {
  /** Of the requests that these routes are for; `undefined`: all. */
  readonly scope: string | undefined;
  /** `undefined` if the dump does not have them. */
  readonly routeConfig: Json | undefined;
}

/** @returns the scopes in the sections `ScopedRoutesConfigDump` */
export function scopesOf(sections: readonly Json[]): Scopes {
  const sets = sections.flatMap((section) => [
    ...listAt(section, "inline_scoped_route_configs"),
    ...listAt(section, "dynamic_scoped_route_configs"),
  ]);
  return new Map(sets.map((set) => [textAt(set, "name") ?? "", listAt(set, "scoped_route_configs")]));
}

/** @returns the route configurations of a connection manager: one, or one for each scope */
export function routeConfigsOf(
  manager: Json,
  { routeConfigs, scopes }: { readonly routeConfigs: ReadonlyMap<string, Json>; readonly scopes: Scopes },
): readonly RouteConfig[] {
  const named = (name: string | undefined) => routeConfigs.get(name ?? "");
  const scoped = objectAt(manager, "scoped_routes");
  if (scoped === undefined) {
    const own = objectAt(manager, "route_config") ?? named(textAt(manager, "rds", "route_config_name"));
    return [{ scope: undefined, routeConfig: own }];
  }
  const listed = listAt(scoped, "scoped_route_configurations_list", "scoped_route_configurations");
  const all = listed.length > 0 ? listed : (scopes.get(textAt(scoped, "name") ?? "") ?? []);
  // without any, what the dump has is not all
  if (all.length === 0) return [{ scope: undefined, routeConfig: undefined }];
  return all.map((one) => ({
    scope: textAt(one, "name") ?? "",
    routeConfig: objectAt(one, "route_configuration") ?? named(textAt(one, "route_configuration_name")),
  }));
}
