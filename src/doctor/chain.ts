import type { EXTENSION } from "../envoy-contract.ts";
import { DECISION, NAMESPACE } from "../envoy-contract.ts";
import { at, listAt, numberAt, objectAt, textAt } from "./dump.ts";
import type { FilterView, HttpChain } from "./envoy-view.ts";
import type { RouteView } from "./route-view.ts";

const EXT_AUTHZ_FILTER_TYPE = "ExtAuthz";
/** Of an ext_authz filter that is known to ask somebody else. */
export const OTHER_AUTHZ_TYPE = "ExtAuthz of another service";

/** The ext_authz filters of a chain, with their place. */
export function authzFilters(chain: HttpChain): readonly FilterView[] {
  return chain.filters.filter(({ type }) => type === EXT_AUTHZ_FILTER_TYPE);
}

/** Whether the route says this to the service; Envoy does not show the value, `[redacted]`. */
export function tellsService(
  chain: HttpChain,
  route: RouteView,
  what: (typeof EXTENSION)[keyof typeof EXTENSION],
): boolean {
  return authzFilters(chain).some(({ name }) => {
    const settings = route.settings(name).typed?.config;
    return at(settings, "check_settings", "context_extensions", what) !== undefined;
  });
}

/**
 * Why a filter may not run for a request that it is on for; `undefined`: it runs for all.
 *
 * Our own second check, which sends the body, runs unless the first one has decided: a missing note means one check more.
 */
export function conditionOf({ config, isMatched }: FilterView): string | undefined {
  if (isMatched) return "a matcher decides whether it runs";
  const enabled = objectAt(config, "filter_enabled");
  if (enabled !== undefined) {
    const share = shareOf(objectAt(enabled, "default_value"));
    const key = textAt(enabled, "runtime_key");
    if (share < 1) return `\`filter_enabled\` is ${share * 100} %`;
    if (key !== undefined && key !== "") return `the runtime key ${key} can turn it off`;
  }
  return objectAt(config, "filter_enabled_metadata") && "`filter_enabled_metadata` decides whether it runs";
}

const DENOMINATORS: Readonly<Record<string, number>> = {
  HUNDRED: 100,
  TEN_THOUSAND: 10_000,
  MILLION: 1_000_000,
};

function shareOf(percent: unknown): number {
  const denominator = DENOMINATORS[textAt(percent, "denominator") ?? "HUNDRED"] ?? 100;
  return (numberAt(percent, "numerator") ?? 0) / denominator;
}

/** Whether it is the check of ours that sends the body, and that the first check makes unnecessary. */
export function isSecondCheck({ config }: FilterView): boolean {
  const condition = objectAt(config, "filter_enabled_metadata");
  const [path] = listAt(condition, "path");
  return (
    textAt(condition, "filter") === NAMESPACE.decision &&
    textAt(path, "key") === DECISION.final &&
    at(condition, "invert") === true
  );
}

/** Whether a filter is off on a route. With `deny_at_disable`, a filter that is off denies. */
export function isOffOn({ name, isOff, config }: FilterView, route: RouteView): boolean {
  const settings = route.settings(name);
  if (settings.asksOthers === true) return true;
  if (at(config, "deny_at_disable", "default_value") === true) return false;
  return settings.isOff ?? (isOff && settings.typed === undefined);
}

/** The routes of a chain that forward requests, on which no ext_authz filter is on that runs for all of them. */
export function uncheckedRoutes(chain: HttpChain): readonly RouteView[] {
  const checks = authzFilters(chain).filter((filter) => conditionOf(filter) === undefined);
  return (chain.routes ?? []).filter(
    (route) => route.forwards && checks.length > 0 && checks.every((filter) => isOffOn(filter, route)),
  );
}
