import { at, listAt, objectAt, textAt, typedAt, type Json, type Typed } from "./dump.ts";

/** What becomes of a request that matches one route; a route with weighted clusters has a view for each. */
export interface RouteView {
  /** `virtual host a / route b`. */
  readonly where: string;
  readonly match: Json;
  /** Whether requests go to a cluster; otherwise Envoy answers by itself. */
  readonly forwards: boolean;
  /** `RouteAction`; empty if Envoy answers. */
  readonly action: Json;
  readonly route: Json;
  readonly virtualHost: Json;
  readonly cluster: string | undefined;
  /** The settings of a filter on this route, of the most specific part that has any. */
  readonly settings: (filter: string) => Settings;
}

/** Settings of a filter on a route. */
export interface Settings {
  /** Turned on or off here; `undefined`: as the filter says. */
  readonly isOff: boolean | undefined;
  /** `undefined`: those of the filter. */
  readonly typed: Typed | undefined;
  /** The filter asks another service here. */
  readonly asksOthers?: true;
}

/** @returns a view of each route of a route configuration, in the order in which Envoy matches within a virtual host */
export function routesOf(config: Json): readonly RouteView[] {
  return listAt(config, "virtual_hosts").flatMap((virtualHost) =>
    listAt(virtualHost, "routes").flatMap((route, index) => {
      const host = `virtual host ${textAt(virtualHost, "name") ?? ""}`;
      const match = objectAt(route, "match") ?? {};
      const where = `${host} / route ${textAt(route, "name") ?? `${index} (${describeMatch(match)})`}`;
      const action = objectAt(route, "route");
      const weighted = listAt(action, "weighted_clusters", "clusters");
      // the later one is the more specific
      const levels = [config, virtualHost, route];
      const view = { match, route, virtualHost, action: action ?? {}, forwards: action !== undefined };
      if (weighted.length === 0)
        return [{ ...view, where, cluster: textAt(action, "cluster"), settings: settingsIn(levels) }];
      return weighted.map((one) => {
        const cluster = textAt(one, "name");
        return {
          ...view,
          where: `${where} / cluster ${cluster ?? ""}`,
          cluster,
          settings: settingsIn([...levels, one]),
        };
      });
    }),
  );
}

function settingsIn(levels: readonly Json[]): RouteView["settings"] {
  return (filter) => {
    const typed = levels.map((level) => typedAt(level, "typed_per_filter_config", filter)).findLast(isThere);
    if (typed?.type !== "FilterConfig") {
      // settings alone turn a filter on that is off by default
      const isOff = typed && at(typed.config, "disabled") === true;
      return { isOff, typed };
    }
    const inner = typedAt(typed.config, "config");
    return {
      isOff:
        at(typed.config, "disabled") === true || (inner && at(inner.config, "disabled") === true) === true,
      typed: inner,
    };
  };
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined;
}

/** Which paths a route matches, in a few words. */
export function describeMatch(match: Json): string {
  for (const kind of ["path", "prefix", "path_separated_prefix"] as const) {
    const text = textAt(match, kind);
    if (text !== undefined) return `${kind} ${text}`;
  }
  const regex = textAt(match, "safe_regex", "regex");
  if (regex !== undefined) return `regex ${regex}`;
  const other = ["connect_matcher", "path_match_policy"].find((name) => at(match, name) !== undefined);
  return other ?? "any path";
}

/** Whether a route matches only some paths. */
export function choosesByPath(match: Json): boolean {
  return !["prefix /", "any path"].includes(describeMatch(match));
}
