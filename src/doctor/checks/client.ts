import { DEFAULT_IDENTITY_HEADERS } from "../../config/index.ts";
import { authzFilters, tellsService, uncheckedRoutes } from "../chain.ts";
import { at, listAt, numberAt, objectAt, textAt, typedAt } from "../dump.ts";
import type { HttpChain } from "../envoy-view.ts";
import { EXTENSION } from "../../envoy-contract.ts";
import type { Facts } from "../facts.ts";
import type { Finding } from "../finding.ts";
import { choosesByPath } from "../route-view.ts";

/** What Envoy believes of what a client says about itself, and how it reads the path. */
export function client(facts: Facts): readonly Finding[] {
  return (facts.envoy?.chains ?? []).flatMap((chain) => [
    ...addresses(chain, facts),
    ...schemes(chain, facts),
    ...identityHeaders(chain, facts),
    ...paths(chain),
    ...trailers(chain),
  ]);
}

function addresses({ where, manager }: HttpChain, { config }: Facts): readonly Finding[] {
  const found: Finding[] = [];
  const believed = (detail: string) => found.push({ code: "CLIENT_ADDRESS_BELIEVED", where, detail });
  const detections = listAt(manager, "original_ip_detection_extensions");
  for (const one of detections)
    believed(`address from ${typedAt(one, "typed_config")?.type ?? textAt(one, "name") ?? ""}`);
  const hops = numberAt(manager, "xff_num_trusted_hops") ?? 0;
  if (detections.length === 0 && at(manager, "use_remote_address") !== true)
    believed("`use_remote_address` is not set");
  else if (hops > 0 && config?.gateway.trusted_proxies.length === 0)
    believed(`\`xff_num_trusted_hops: ${hops}\`, but \`gateway.trusted_proxies\` is empty`);
  const ranges =
    objectAt(manager, "internal_address_config") && listAt(manager, "internal_address_config", "cidr_ranges");
  const wide = ranges?.filter((range) => textAt(range, "address_prefix") !== "255.255.255.255") ?? [];
  const detail =
    ranges === undefined || ranges.length === 0
      ? "`internal_address_config` is not set"
      : `\`internal_address_config\`: ${wide.map((range) => `${textAt(range, "address_prefix") ?? ""}/${numberAt(range, "prefix_len") ?? 0}`).join(", ")}`;
  if (ranges === undefined || ranges.length === 0 || wide.length > 0)
    found.push({ code: "INTERNAL_HEADERS_BELIEVED", where, detail });
  return found;
}

/**
 * Our own configuration copies the scheme that a trusted proxy reports before Envoy overwrites it, and each route says so; where one
 * with plans does not, the service takes the scheme for unknown. Of one without our filters, it believes X-Forwarded-Proto unless
 * the peer was appended to X-Forwarded-For.
 */
function schemes(chain: HttpChain, { config }: Facts): readonly Finding[] {
  const { where, manager, routes = [] } = chain;
  const isOverwritten = at(manager, "use_remote_address") === true && at(manager, "skip_xff_append") === true;
  if (!isOverwritten || authzFilters(chain).length === 0) return [];
  // with the PROXY protocol over TCP, no header is believed
  const { trusted_proxies: proxies = [], proxy_protocol: protocol } = config?.gateway ?? {};
  if (proxies.length === 0 || protocol === "tcp") return [];
  const unchecked = new Set(uncheckedRoutes(chain));
  const without = routes.filter(
    (route) =>
      route.forwards && !unchecked.has(route) && !tellsService(chain, route, EXTENSION.forwardedProto),
  );
  return without.map((route) => ({
    code: tellsService(chain, route, EXTENSION.plans) ? "SCHEME_UNKNOWN" : "SCHEME_OVERWRITTEN",
    where: `${where} / ${route.where}`,
    detail: "`use_remote_address` and `skip_xff_append`",
  }));
}

/** The service removes them from each request that it decides; where it decides nothing, Envoy must. */
function identityHeaders(chain: HttpChain, { config }: Facts): readonly Finding[] {
  const names = [
    ...new Set([...Object.keys(config?.identity.headers ?? {}), ...Object.keys(DEFAULT_IDENTITY_HEADERS)]),
  ].map((name) => name.toLowerCase());
  const removed = removedEarly(chain);
  const left = names.filter((name) => !removed(name));
  const fromClients = uncheckedRoutes(chain).flatMap((route): Finding[] => {
    const here = new Set([
      ...removedBy(route.route),
      ...removedBy(route.virtualHost),
      ...removedBy(chain.routeConfig),
    ]);
    const passing = left.filter((name) => !here.has(name));
    if (passing.length === 0) return [];
    return [
      {
        code: "IDENTITY_HEADERS_FROM_CLIENTS",
        where: `${chain.where} / ${route.where}`,
        detail: passing.join(", "),
      },
    ];
  });
  const replaced = (chain.routes ?? []).flatMap((route) =>
    [route.route, route.virtualHost, chain.routeConfig].flatMap((level) =>
      listAt(level, "request_headers_to_add").flatMap((added): Finding[] => {
        const name = textAt(added, "header", "key")?.toLowerCase() ?? "";
        if (!route.forwards || !names.includes(name)) return [];
        return [{ code: "IDENTITY_HEADER_REPLACED", where: `${chain.where} / ${route.where}`, detail: name }];
      }),
    ),
  );
  return [...fromClients, ...replaced];
}

function removedBy(level: unknown): readonly string[] {
  const names = at(level, "request_headers_to_remove");
  return Array.isArray(names)
    ? names.filter((name) => typeof name === "string").map((name) => name.toLowerCase())
    : [];
}

/** @returns whether a header of that name is removed before the route is chosen */
function removedEarly({ manager, filters }: HttpChain): (name: string) => boolean {
  const early = listAt(manager, "early_header_mutation_extensions").map(
    (one) => typedAt(one, "typed_config")?.config,
  );
  const inFilters = filters.flatMap(({ type, config }) =>
    type === "HeaderMutation" ? [objectAt(config, "mutations")] : [],
  );
  const mutations = [
    ...early.flatMap((config) => listAt(config, "mutations")),
    ...inFilters.flatMap((config) => listAt(config, "request_mutations")),
  ];
  const removed = new Set(mutations.map((mutation) => textAt(mutation, "remove")?.toLowerCase()));
  const prefixes = mutations.flatMap(
    (mutation) => textAt(mutation, "remove_on_match", "key_matcher", "prefix") ?? [],
  );
  return (name) => removed.has(name) || prefixes.some((prefix) => name.startsWith(prefix.toLowerCase()));
}

/** What is decided is what is forwarded, unless the path itself chooses whether it is decided. */
function paths(chain: HttpChain): readonly Finding[] {
  const { manager, routes = [] } = chain;
  const escapes = textAt(manager, "path_with_escaped_slashes_action");
  const isNormalized =
    at(manager, "normalize_path") === true &&
    at(manager, "merge_slashes") === true &&
    ["REJECT_REQUEST", "UNESCAPE_AND_REDIRECT", "UNESCAPE_AND_FORWARD"].includes(escapes ?? "");
  const unchecked = uncheckedRoutes(chain).filter(({ match }) => choosesByPath(match));
  const evaded = isNormalized
    ? []
    : unchecked.map((route): Finding => ({
        code: "PATH_NOT_NORMALIZED",
        where: `${chain.where} / ${route.where}`,
        detail: "`normalize_path`, `merge_slashes` and `path_with_escaped_slashes_action` are not all set",
      }));
  const rewritten = routes.flatMap((route): Finding[] => {
    const rewrites = REWRITES.filter((name) => at(route.action, name) !== undefined);
    if (rewrites.length === 0) return [];
    return [
      {
        code: "PATH_REWRITTEN",
        where: `${chain.where} / ${route.where}`,
        detail: rewrites.map((name) => `\`${name}\``).join(", "),
      },
    ];
  });
  return [...evaded, ...rewritten];
}

const REWRITES = [
  ...["prefix_rewrite", "regex_rewrite", "path_rewrite_policy", "path_rewrite"],
  ...["host_rewrite_literal", "host_rewrite_header", "host_rewrite_path_regex", "auto_host_rewrite"],
];

/** HTTP/1 drops request trailers unless told otherwise; HTTP/2 always has them. */
function trailers({ where, manager, filters }: HttpChain): readonly Finding[] {
  if (at(manager, "http_protocol_options", "enable_trailers") !== true) return [];
  const dropped = filters.some(
    ({ type, config }) =>
      type === "HeaderMutation" && listAt(config, "mutations", "request_trailers_mutations").length > 0,
  );
  return dropped
    ? []
    : [{ code: "REQUEST_TRAILERS_KEPT", where, detail: "`http_protocol_options.enable_trailers`" }];
}
