import { isIP } from "node:net";
import { resolve } from "node:path";
import { DESTINATIONS, type DestinationKind } from "../audit/index.ts";
import { ALB_HEADER, DEFAULT_CLAIMS } from "../identity/index.ts";
import { foldCase, parsePattern } from "../policy/evaluation.ts";
import { foldHeaderName } from "../request/index.ts";
import { parseSocketAddress } from "../setting-types.ts";
import { valueAt } from "./keys.ts";
import { DEFAULT_IDENTITY_HEADERS } from "./schema-identity.ts";
import type { GatewayConfig } from "./schema.ts";

/** A contradiction between keys. */
export interface ConfigContradiction {
  /** The key that is at fault. */
  readonly path: readonly string[];
  readonly message: string;
}

type ConfigCheck = (config: GatewayConfig) => ConfigContradiction | undefined;

/** How keys fit together, which a schema cannot express. One check per rule; all of them run. */
const CHECKS: readonly ConfigCheck[] = [
  ({ gateway: { security } }) =>
    security.tls_certificate !== undefined && security.tls_private_key === undefined
      ? fault("gateway.security.tls_certificate", "needs `gateway.security.tls_private_key`")
      : undefined,
  ({ gateway: { security } }) =>
    security.tls_private_key !== undefined && security.tls_certificate === undefined
      ? fault("gateway.security.tls_private_key", "needs `gateway.security.tls_certificate`")
      : undefined,
  ({ gateway: { security } }) =>
    security.rate_limiting.burst_size !== undefined && security.rate_limiting.requests_per_second === 0
      ? fault(
          "gateway.security.rate_limiting.burst_size",
          "has no effect without `gateway.security.rate_limiting.requests_per_second`",
        )
      : undefined,
  ({ gateway, control_plane }) =>
    gateway.cluster.coordination === "control_plane" && control_plane.url === undefined
      ? fault("gateway.cluster.coordination", "needs `control_plane.url`")
      : undefined,
  ({ audit }) =>
    audit.outcomes && !audit.enabled
      ? fault("audit.outcomes", "has no effect with `audit.enabled: false`")
      : undefined,
  ({ audit }) =>
    audit.inputs && audit.inputs_others === "hash" && audit.inputs_key_file === undefined
      ? fault("audit.inputs_others", "needs `audit.inputs_key_file`")
      : undefined,
  ({ audit }) =>
    audit.inputs && !audit.enabled
      ? fault("audit.inputs", "has no effect with `audit.enabled: false`")
      : undefined,
  ({ audit, gateway }) =>
    audit.destination === "file" && resolve(gateway.access_log) === resolve(audit.path)
      ? fault(
          "gateway.access_log",
          "is the same file as `audit.path`; Envoy's access log needs a separate file",
        )
      : undefined,
  ({ gateway }) =>
    gateway.backends.length > 0 && gateway.trusted_proxies.length === 0
      ? fault(
          "gateway.backends",
          "has no effect: `gateway.trusted_proxies` is empty, so nobody can choose a backend",
        )
      : undefined,
  ({ gateway }) =>
    gateway.proxy_protocol !== "off" && gateway.trusted_proxies.length === 0
      ? fault(
          "gateway.proxy_protocol",
          "needs `gateway.trusted_proxies`: no other peer may send a PROXY header",
        )
      : undefined,
  ({ gateway }) =>
    gateway.trusted_hops !== undefined &&
    (gateway.trusted_proxies.length === 0 || gateway.proxy_protocol !== "off")
      ? fault(
          "gateway.trusted_hops",
          gateway.proxy_protocol === "off"
            ? "has no effect: `gateway.trusted_proxies` is empty"
            : "has no effect: the PROXY protocol says who the client is",
        )
      : undefined,
  ({ gateway: { routes, performance } }) => {
    const index = routes.findIndex(
      ({ request_timeout: own }) => (own ?? Infinity) < performance.request_timeout,
    );
    return index < 0
      ? undefined
      : fault(
          `gateway.routes.${String(index)}.request_timeout`,
          "is shorter than `gateway.performance.request_timeout`, which Envoy applies to all requests: set that one",
        );
  },
  ({ gateway: { routes } }) => {
    const index = routes.findIndex((route) => Object.keys(route).length === 1);
    return index < 0 ? undefined : fault(`gateway.routes.${String(index)}`, "has no limits");
  },
  ({ gateway: { routes } }) => {
    const places = routes.map(({ path }) => samePaths(path));
    const index = places.findIndex((place, at) => places.indexOf(place) < at);
    return index < 0
      ? undefined
      : fault(
          `gateway.routes.${String(index)}.path`,
          `matches the same paths as \`gateway.routes.${String(places.indexOf(places[index] ?? ""))}.path\``,
        );
  },
  ({ identity }) => {
    const names = [
      ...Object.keys(identity.headers),
      ...Object.keys(DEFAULT_IDENTITY_HEADERS),
      "x-user-token",
    ];
    const ours = new Set(names.map(foldHeaderName));
    const taken = identity.client_headers.find((name) => ours.has(foldHeaderName(name)));
    return taken === undefined
      ? undefined
      : fault("identity.client_headers", `contains \`${taken}\`, which clients may never send`);
  },
  ({ identity: { claims, claim_lists: lists } }) => {
    const stray = Object.keys(lists).find((name) => !Object.hasOwn({ ...DEFAULT_CLAIMS, ...claims }, name));
    return stray === undefined
      ? undefined
      : fault("identity.claim_lists", `contains \`${stray}\`, to which no claim is mapped`);
  },
  ({ identity }) => {
    const { token_header: header, headers, client_headers: accepted } = identity;
    if (header === undefined) return undefined;
    const same = (name: string) => foldHeaderName(name) === foldHeaderName(header);
    if ([...Object.keys(headers), ...Object.keys(DEFAULT_IDENTITY_HEADERS)].some(same))
      return fault("identity.token_header", "is a header that tells the application who the caller is");
    return accepted.some(same)
      ? fault("identity.client_headers", `contains \`${header}\`, which only the gateway reads`)
      : undefined;
  },
  ({ identity: { alb, client_headers: accepted } }) =>
    alb.signers.length > 0 && accepted.some((name) => foldHeaderName(name) === foldHeaderName(ALB_HEADER))
      ? fault("identity.client_headers", `contains \`${ALB_HEADER}\`, which only the gateway reads`)
      : undefined,
  ({ identity: { alb } }) =>
    alb.signers.length === 0 && (alb.clients.length > 0 || alb.keys_url !== undefined)
      ? fault("identity.alb", "has no effect without `identity.alb.signers`")
      : undefined,
  ({ identity }) =>
    identity.trusted_origins.length > 0 && !(hasAmbientToken(identity) && identity.cookie_origin_check)
      ? fault(
          "identity.trusted_origins",
          `has no effect ${hasAmbientToken(identity) ? "with `identity.cookie_origin_check: false`" : "without `identity.cookie`"}`,
        )
      : undefined,
  ({ identity }) =>
    !hasAmbientToken(identity) && !identity.cookie_origin_check
      ? fault("identity.cookie_origin_check", "has no effect without `identity.cookie`")
      : undefined,
  ({ authz }) => wholeTls(authz.tls, "authz.tls"),
  ({ api }) => wholeTls(api.tls, "api.tls"),
  ({ authz }) =>
    authz.http_listen !== undefined && authz.http_callers.length === 0
      ? fault("authz.http_listen", "needs `authz.http_callers`: without the list nobody may ask")
      : undefined,
  ({ authz }) =>
    authz.spop_listen !== undefined && authz.http_callers.length === 0
      ? fault("authz.spop_listen", "needs `authz.http_callers`: without the list nobody may ask")
      : undefined,
  ({ authz }) =>
    authz.http_listen === undefined && authz.spop_listen === undefined && authz.http_callers.length > 0
      ? fault("authz.http_callers", "has no effect without `authz.http_listen` or `authz.spop_listen`")
      : undefined,
  ({ authz }) =>
    authz.tls.client_ca === undefined && authz.http_callers.some((caller) => !isNetwork(caller))
      ? fault("authz.http_callers", "needs `authz.tls.client_ca` for names in client certificates")
      : undefined,
  ({ authz }) =>
    authz.tls.client_ca === undefined &&
    Object.values(authz.http_door_callers).some((some) => some.some((caller) => !isNetwork(caller)))
      ? fault("authz.http_door_callers", "needs `authz.tls.client_ca` for names in client certificates")
      : undefined,
  ({ authz }) =>
    authz.http_doors.length === 0
      ? fault("authz.http_doors", "must not be empty; without `authz.http_listen`, no door is open")
      : undefined,
  ({ authz }) => {
    const closed = Object.keys(authz.http_door_callers).find(
      (door) => door !== "haproxy" && authz.http_doors.every((open) => open !== door),
    );
    return closed === undefined
      ? undefined
      : fault("authz.http_door_callers", `\`${closed}\` is not in \`authz.http_doors\``);
  },
  ({ authz }) =>
    authz.http_listen === undefined && Object.keys(authz.http_door_callers).some((door) => door !== "haproxy")
      ? fault("authz.http_door_callers", "has no effect without `authz.http_listen`")
      : undefined,
  ({ authz }) =>
    authz.spop_listen === undefined && authz.http_door_callers.haproxy !== undefined
      ? fault("authz.http_door_callers", "`haproxy` has no effect without `authz.spop_listen`")
      : undefined,
  ({ authz: { aws }, identity }) => {
    const { usage_identifier_header: header } = aws;
    return header === undefined || Object.hasOwn(identity.headers, header)
      ? undefined
      : fault("authz.aws.usage_identifier_header", "is not a header in `identity.headers`");
  },
  ({ authz, gateway }) =>
    sharesPorts(authz.listen, authz.http_listen, gateway.cluster.nodes)
      ? fault("authz.http_listen", "has ports of `authz.listen`: each worker takes one port from each on")
      : undefined,
  ({ authz, gateway }) =>
    [authz.listen, authz.http_listen].some((other) =>
      other === undefined ? false : sharesPorts(other, authz.spop_listen, gateway.cluster.nodes),
    )
      ? fault("authz.spop_listen", "has ports of another listener: each worker takes one port from each on")
      : undefined,
  ({ control_plane, policies }) => needsControlPlane(control_plane, policies.source, "policies.source"),
  ({ rollout: { steps, percentage } }) =>
    steps.length > 0 && percentage > 0
      ? fault("rollout.percentage", "has no effect with `rollout.steps`")
      : undefined,
  ({ rollout: { steps } }) =>
    steps.some((step, index) => index > 0 && step <= (steps[index - 1] ?? 0))
      ? fault("rollout.steps", "must rise from step to step")
      : undefined,
  ({ rollout: { stable, mode } }) =>
    stable === "none" && mode !== "shadow"
      ? fault("rollout.stable", "may be `none` only with `rollout.mode: shadow`")
      : undefined,
  ({ rollout: { stable, candidate } }) =>
    stable === "none" && candidate === undefined
      ? fault("rollout.stable", "may be `none` only with `rollout.candidate`, whose denials are recorded")
      : undefined,
  ({ rollout: { stable }, policies }) =>
    stable === "none" && policies.source !== "directory"
      ? fault("rollout.stable", "may be `none` only with `policies.source: directory`")
      : undefined,
  ({ control_plane: { url }, identity: { api_keys: keys } }) =>
    keys !== "refuse" && url === undefined
      ? fault("identity.api_keys", "needs `control_plane.url`")
      : undefined,
  (config) => {
    const { needs = [] }: DestinationKind = DESTINATIONS[config.audit.destination];
    const missing = needs.find((name) => valueAt(config, name.split(".")) === undefined);
    return missing === undefined ? undefined : fault("audit.destination", `needs \`${missing}\``);
  },
  ({ control_plane, attribute_sources }) =>
    Object.values(attribute_sources)
      .map(({ type }) => needsControlPlane(control_plane, type, "attribute_sources"))
      .find((found) => found !== undefined),
  ({ authz: { authzen }, attribute_sources }) => {
    const [type, source] =
      Object.entries(authzen.subject_sources).find(
        ([of, name]) =>
          !authzen.subjects.includes(of) ||
          !Object.hasOwn(attribute_sources, name) ||
          attribute_sources[name]?.type !== "file",
      ) ?? [];
    if (type === undefined || source === undefined) return undefined;
    return authzen.subjects.includes(type)
      ? fault("authz.authzen.subject_sources", `\`${source}\` must be a source of the type \`file\``)
      : fault("authz.authzen.subject_sources", `\`${type}\` must be one of \`authz.authzen.subjects\``);
  },
  ({ control_plane: { url, api_key, api_key_file } }) =>
    url !== undefined && (api_key === undefined) === (api_key_file === undefined)
      ? fault("control_plane", "needs exactly one of `api_key` and `api_key_file`")
      : undefined,
];

/** Equal for patterns that match the same paths. */
function samePaths(path: string): string {
  const { segments } = parsePattern(path, "rest");
  return JSON.stringify(
    segments.map((segment) => (segment.kind === "literal" ? [foldCase(segment.value)] : segment.kind)),
  );
}

/** A token that browsers send by themselves. */
function hasAmbientToken({ cookie, token_header: header, alb }: GatewayConfig["identity"]): boolean {
  return cookie !== undefined || header !== undefined || alb.signers.length > 0;
}

function needsControlPlane(
  { url }: GatewayConfig["control_plane"],
  value: string,
  name: string,
): ConfigContradiction | undefined {
  return value === "control_plane" && url === undefined
    ? fault(name, "needs `control_plane.url`")
    : undefined;
}

function wholeTls(
  { certificate, private_key: key, client_ca: clientCa }: GatewayConfig["authz"]["tls"],
  name: string,
): ConfigContradiction | undefined {
  if ((certificate === undefined) !== (key === undefined))
    return fault(name, "needs both `certificate` and `private_key`, or neither");
  return clientCa !== undefined && certificate === undefined
    ? fault(`${name}.client_ca`, `needs \`${name}.certificate\``)
    : undefined;
}

function fault(name: string, message: string): ConfigContradiction {
  return { path: name.split("."), message };
}

/** @returns every contradiction in a configuration whose keys are each valid on their own. */
export function contradictions(config: GatewayConfig): readonly ConfigContradiction[] {
  return CHECKS.map((check) => check(config)).filter((found) => found !== undefined);
}

function isNetwork(caller: string): boolean {
  return isIP(caller.split("/")[0] ?? "") !== 0;
}

/** Whatever the addresses: one of them may be the wildcard. */
function sharesPorts(one: string, other: string | undefined, workers: number): boolean {
  const [first, second] = [
    parseSocketAddress(one),
    other === undefined ? undefined : parseSocketAddress(other),
  ];
  if (first === undefined || second === undefined) return false;
  return Math.abs(first.port - second.port) < workers;
}
