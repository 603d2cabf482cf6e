import { authzFilters, isOffOn, tellsService } from "../chain.ts";
import { at, listAt, textAt } from "../dump.ts";
import type { HttpChain } from "../envoy-view.ts";
import type { Facts } from "../facts.ts";
import type { Finding } from "../finding.ts";
import { EXTENSION, HEADER } from "../../envoy-contract.ts";
import type { RouteView } from "../route-view.ts";

/** Filters that a response with a plan passes, and those of a connection with one. */
const OF_RESPONSES = ["gatehouse.lua.guard_response", "gatehouse.lua.answers"] as const;
const OF_CONNECTIONS = [
  "gatehouse.lua.guard_response",
  "gatehouse.lua.sockets",
  "gatehouse.lua.guard_request",
] as const;

/**
 * Masks, GraphQL fields and messages are enforced in Lua. A route tells the service that it can (`gatehouse.plans`): there the
 * filters must be, and be those of this release.
 */
export function plans(facts: Facts): readonly Finding[] {
  return (facts.envoy?.chains ?? []).flatMap((chain) => [
    ...enforced(chain, facts),
    ...scripts(chain, facts),
  ]);
}

function enforced(chain: HttpChain, { needs }: Facts): readonly Finding[] {
  const claims = (chain.routes ?? []).filter(
    (route) => route.forwards && tellsService(chain, route, EXTENSION.plans),
  );
  if (authzFilters(chain).length === 0) return [];
  if (claims.length === 0)
    return needs?.plans === true
      ? [{ code: "LUA_MISSING", where: chain.where, detail: "no route claims plans" }]
      : [];
  const found: Finding[] = [];
  for (const route of claims) {
    const off = missingOn(chain, route);
    if (off.length > 0)
      found.push({
        code: "PLANS_NOT_ENFORCED",
        where: `${chain.where} / ${route.where}`,
        detail: `missing or off: ${off.join(", ")}`,
      });
  }
  if (!authzFilters(chain).some(({ config }) => at(config, "clear_route_cache") === true))
    found.push({
      code: "ROUTE_NOT_CHOSEN_AGAIN",
      where: chain.where,
      detail: "`clear_route_cache` is not set",
    });
  return found;
}

/** A request with a plan gets a header by which it goes to another route; only there, and for handshakes, filters must be on. */
function missingOn(chain: HttpChain, route: RouteView): readonly string[] {
  const off = (names: readonly string[]) =>
    names.filter(
      (name) => !chain.filters.some((one) => one.name === name && one.type === "Lua" && !isOffOn(one, route)),
    );
  if (upgrades(chain, route)) return off(OF_CONNECTIONS);
  if (matchesPlan(route)) return off(OF_RESPONSES);
  return comesAfterPlanned(chain, route) ? [] : off(OF_RESPONSES);
}

/** Envoy takes the first route that matches. */
function comesAfterPlanned({ routes = [] }: HttpChain, route: RouteView): boolean {
  return routes
    .slice(0, routes.indexOf(route))
    .some((other) => other.virtualHost === route.virtualHost && other.forwards && matchesPlan(other));
}

function matchesPlan({ match }: RouteView): boolean {
  return listAt(match, "headers").some(
    (header) => textAt(header, "name")?.toLowerCase() === HEADER.plan && at(header, "invert_match") !== true,
  );
}

function upgrades({ manager }: HttpChain, { action }: RouteView): boolean {
  const isWebSocket = (upgrade: unknown) => textAt(upgrade, "upgrade_type")?.toLowerCase() === "websocket";
  const here = listAt(action, "upgrade_configs").find(isWebSocket);
  if (here !== undefined) return at(here, "enabled") !== false;
  const all = listAt(manager, "upgrade_configs").find(isWebSocket);
  return all !== undefined && at(all, "enabled") !== false;
}

/** Settings of a filter stand before its text: numbers and texts, and nothing that would be run. */
function withoutSettings(script: string): string {
  return script.replace(/^(?:GATEHOUSE_[A-Z_]+ = (?:\d+|"(?:[^"\\\n]|\\.)*")\n)+/, "");
}

function scripts(chain: HttpChain, { lua }: Facts): readonly Finding[] {
  return chain.filters.flatMap(({ name, config }): Finding[] => {
    const script = lua.get(name);
    if (script === undefined) return [];
    const there = textAt(config, "default_source_code", "inline_string");
    return withoutSettings(there ?? "") === script
      ? []
      : [{ code: "LUA_OF_ANOTHER_RELEASE", where: chain.where, detail: `filter ${name}` }];
  });
}
