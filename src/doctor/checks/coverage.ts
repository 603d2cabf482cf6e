import { authzFilters, conditionOf, isSecondCheck, uncheckedRoutes } from "../chain.ts";
import { at, listAt, objectAt, textAt } from "../dump.ts";
import type { EnvoyView, HttpChain } from "../envoy-view.ts";
import type { Facts } from "../facts.ts";
import type { Finding } from "../finding.ts";
import { describeMatch } from "../route-view.ts";
import { authzServices } from "../services.ts";

/** Whether each request that reaches an application was decided, as the application gets it. */
export function coverage({ envoy, authzCluster }: Facts): readonly Finding[] {
  if (envoy === undefined) return [];
  return [
    ...envoy.chains.flatMap((chain) => [
      ...missing(chain),
      ...sometimes(chain),
      ...order(chain),
      ...tunnels(chain),
    ]),
    ...withoutHttp(envoy),
    ...others(envoy, authzCluster),
  ];
}

function missing(chain: HttpChain): readonly Finding[] {
  const { where, routes = [] } = chain;
  const filters = authzFilters(chain);
  if (filters.length === 0)
    return chain.routes === undefined || routes.some(({ forwards }) => forwards)
      ? [
          {
            code: "EXT_AUTHZ_MISSING",
            where,
            detail: `filters: ${chain.filters.map(({ name }) => name).join(", ")}`,
          },
        ]
      : [];
  return uncheckedRoutes(chain).map((route) => ({
    code: "EXT_AUTHZ_OFF_ON_ROUTE",
    where: `${where} / ${route.where}`,
    detail: `forwards ${describeMatch(route.match)} to ${route.cluster ?? "a cluster that the request names"}`,
  }));
}

function sometimes(chain: HttpChain): readonly Finding[] {
  const filters = authzFilters(chain);
  const optional = filters.flatMap(({ name, isOptional }): Finding[] =>
    isOptional ? [{ code: "EXT_AUTHZ_OPTIONAL", where: chain.where, detail: `filter ${name}` }] : [],
  );
  const always = filters.some((filter) => conditionOf(filter) === undefined);
  const conditional = filters.flatMap((filter): Finding[] => {
    const condition = conditionOf(filter);
    if (condition === undefined || (always && isSecondCheck(filter))) return [];
    return [
      { code: "EXT_AUTHZ_SOMETIMES", where: chain.where, detail: `filter ${filter.name}: ${condition}` },
    ];
  });
  return [...optional, ...conditional];
}

/** Filters that answer from what they have stored. */
const CACHES = new Set(["CacheConfig", "CacheV2Config", "FileSystemHttpCacheConfig"]);
/** Filters that can change any part of a request. */
const CHANGING = new Set([
  "ExternalProcessor",
  "Wasm",
  "GrpcJsonTranscoder",
  "DynamicModuleFilter",
  "Composite",
  "FilterConfig",
  "AwsLambda",
]);

function order(chain: HttpChain): readonly Finding[] {
  const { where, filters } = chain;
  const first = filters.findIndex(
    (one) => authzFilters(chain).includes(one) && conditionOf(one) === undefined,
  );
  if (first < 0) return [];
  return filters.flatMap((filter, index): Finding[] => {
    const { name, type, config } = filter;
    if (index < first)
      return CACHES.has(type) ? [{ code: "ANSWERED_BEFORE_CHECK", where, detail: `filter ${name}` }] : [];
    const isOurs = name.startsWith("gatehouse.");
    const mutates = type === "HeaderMutation" && listAt(config, "mutations", "request_mutations").length > 0;
    const changes = CHANGING.has(type) || mutates || (type === "Lua" && !isOurs);
    return changes ? [{ code: "CHANGED_AFTER_CHECK", where, detail: `filter ${name} (${type})` }] : [];
  });
}

function tunnels({ where, manager, routes = [] }: HttpChain): readonly Finding[] {
  const isTunnel = (upgrade: unknown) =>
    /^connect(?:-udp)?$/i.test(textAt(upgrade, "upgrade_type") ?? "") && at(upgrade, "enabled") !== false;
  const everywhere = listAt(manager, "upgrade_configs").some(isTunnel);
  const tunnelling = routes.filter(
    ({ forwards, match, action }) =>
      forwards &&
      (listAt(action, "upgrade_configs").some(
        (upgrade) => isTunnel(upgrade) || objectAt(upgrade, "connect_config"),
      ) ||
        (everywhere && objectAt(match, "connect_matcher") !== undefined)),
  );
  return tunnelling.map((route) => ({
    code: "TUNNEL_ALLOWED",
    where: `${where} / ${route.where}`,
    detail: `to ${route.cluster ?? "a cluster that the request names"}`,
  }));
}

/** Which of several services is Gatehouse cannot be seen. */
function others(envoy: EnvoyView, authzCluster: string | undefined): readonly Finding[] {
  const services = authzServices(envoy);
  if (authzCluster !== undefined || services.length < 2) return [];
  return [{ code: "EXT_AUTHZ_ASKS_OTHERS", where: "ext_authz", detail: `asks ${services.join(", ")}` }];
}

/** A TCP proxy to an application that is guarded elsewhere. */
function withoutHttp({ chains, tcp, clusters }: EnvoyView): readonly Finding[] {
  const addressesOf = (name: string) =>
    (clusters.get(name)?.endpoints ?? []).map(({ host, port }) => `${host}:${port}`);
  const guarded = new Set(
    chains.flatMap(({ routes = [] }) =>
      routes.flatMap(({ cluster }) => (cluster === undefined ? [] : [cluster])),
    ),
  );
  const addresses = new Set([...guarded].flatMap(addressesOf).filter((address) => address !== ":0"));
  return tcp.flatMap(({ where, clusters: names }) =>
    names
      .filter((name) => guarded.has(name) || addressesOf(name).some((address) => addresses.has(address)))
      .map((name): Finding => ({ code: "FORWARDED_WITHOUT_HTTP", where, detail: `to the cluster ${name}` })),
  );
}
