import { authzFilters, OTHER_AUTHZ_TYPE } from "./chain.ts";
import { listAt, objectAt, textAt, type Json } from "./dump.ts";
import type { EnvoyView, HttpChain } from "./envoy-view.ts";
import type { RouteView, Settings } from "./route-view.ts";

/** What a gRPC service is named by: a cluster of Envoy, or an address. */
function serviceOf(service: Json | undefined): string | undefined {
  return textAt(service, "envoy_grpc", "cluster_name") ?? textAt(service, "google_grpc", "target_uri");
}

function serviceOnRoute({ typed }: Settings): string | undefined {
  return serviceOf(objectAt(typed?.config, "check_settings", "grpc_service"));
}

/** Clusters with the same endpoints are one service: a gateway has several, with limits of their own. */
function endpointsOf({ clusters }: Pick<EnvoyView, "clusters">, service: string): string {
  const known = clusters.get(service);
  const fixed = listAt(known?.config, "load_assignment", "endpoints").flatMap((locality) =>
    listAt(locality, "lb_endpoints").map((one) => objectAt(one, "endpoint", "address")),
  );
  const all = [...fixed, ...(known?.endpoints ?? [])].map((one) => JSON.stringify(one));
  return all.length === 0 ? service : all.sort().join();
}

/** @returns the services that the ext_authz filters of an Envoy ask, and those that routes have them ask, one name of each */
export function authzServices(view: EnvoyView): readonly string[] {
  const all = view.chains.flatMap((chain) =>
    authzFilters(chain).flatMap(({ name, config }) => [
      serviceOf(objectAt(config, "grpc_service")),
      ...(chain.routes ?? []).map((route) => serviceOnRoute(route.settings(name))),
    ]),
  );
  const names = all.filter((one) => one !== undefined);
  return [...new Map(names.map((name) => [endpointsOf(view, name), name])).values()];
}

/**
 * @param service - Gatehouse's
 * @returns the view in which only what asks Gatehouse is a check: filters that ask others are something else, and routes that
 *   have a filter ask others are without that check
 */
export function onlyAsking(view: EnvoyView, service: string): EnvoyView {
  const ours = endpointsOf(view, service);
  const isOurs = (asked: string) => asked === service || endpointsOf(view, asked) === ours;
  return { ...view, chains: view.chains.map((chain) => chainAsking(chain, isOurs)) };
}

function chainAsking(chain: HttpChain, isOurs: (service: string) => boolean): HttpChain {
  const checks = new Set(authzFilters(chain));
  const filters = chain.filters.map((filter) => {
    const asked = serviceOf(objectAt(filter.config, "grpc_service"));
    const isOther = checks.has(filter) && (asked === undefined || !isOurs(asked));
    return isOther ? { ...filter, type: OTHER_AUTHZ_TYPE } : filter;
  });
  const asksOthers = (settings: Settings): Settings => {
    const asked = serviceOnRoute(settings);
    return asked === undefined || isOurs(asked) ? settings : { ...settings, asksOthers: true };
  };
  const routes = chain.routes?.map((route): RouteView => ({
    ...route,
    settings: (name) => asksOthers(route.settings(name)),
  }));
  return { ...chain, filters, routes };
}
