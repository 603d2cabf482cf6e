import { authzFilters } from "../chain.ts";
import { at, listAt, objectAt, textAt, type Json } from "../dump.ts";
import type { Address, ClusterView, EnvoyView, HttpChain } from "../envoy-view.ts";
import type { Facts } from "../facts.ts";
import type { Finding, ProblemCode } from "../finding.ts";

/** Who can read or change what is said between client, Envoy, service and application. */
export function transport({ envoy }: Facts): readonly Finding[] {
  if (envoy === undefined) return [];
  const services = serviceClusters(envoy);
  return [
    ...envoy.chains.flatMap(listenerTls),
    ...[...services].flatMap((name) =>
      peerTls(envoy.clusters.get(name), "AUTHZ_WITHOUT_TLS", "AUTHZ_NOT_VERIFIED"),
    ),
    ...[...applicationClusters(envoy)].flatMap((name) =>
      services.has(name)
        ? []
        : peerTls(envoy.clusters.get(name), "UPSTREAM_WITHOUT_TLS", "UPSTREAM_NOT_VERIFIED"),
    ),
  ];
}

/** Clusters that ext_authz asks, those of routes included. */
export function serviceClusters({ chains }: EnvoyView): ReadonlySet<string> {
  const services = chains.flatMap((chain) =>
    authzFilters(chain).flatMap(({ name, config }) => [
      objectAt(config, "grpc_service"),
      ...(chain.routes ?? []).map((route) =>
        objectAt(route.settings(name).typed?.config, "check_settings", "grpc_service"),
      ),
    ]),
  );
  return new Set(services.flatMap((service) => textAt(service, "envoy_grpc", "cluster_name") ?? []));
}

/** Clusters that routes forward to. */
export function applicationClusters({ chains }: EnvoyView): ReadonlySet<string> {
  return new Set(
    chains.flatMap(({ routes = [] }) =>
      routes.flatMap(({ cluster, forwards }) => (forwards ? (cluster ?? []) : [])),
    ),
  );
}

/** Loopback, or a Unix socket: nobody else is on the way. */
export function isLocal({ host }: Address): boolean {
  return host === "" || host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

const OLD = ["TLSv1_0", "TLSv1_1"];

function listenerTls({ where, address, tls, takesEarlyData }: HttpChain): readonly Finding[] {
  if (tls === undefined)
    return isLocal(address)
      ? []
      : [{ code: "LISTENER_WITHOUT_TLS", where, detail: `${address.host}:${address.port}` }];
  const least = textAt(tls, "common_tls_context", "tls_params", "tls_minimum_protocol_version");
  return [
    ...(OLD.includes(least ?? "") ? [{ code: "TLS_TOO_OLD", where, detail: least ?? "" } as const] : []),
    ...(takesEarlyData
      ? [{ code: "EARLY_DATA_ACCEPTED", where, detail: "`enable_early_data` is not false" } as const]
      : []),
  ];
}

function peerTls(
  cluster: ClusterView | undefined,
  without: ProblemCode,
  unverified: ProblemCode,
): readonly Finding[] {
  if (cluster === undefined) return [];
  const { name, endpoints, tls } = cluster;
  const where = `cluster ${name}`;
  const remote = endpoints.filter((address) => !isLocal(address));
  if (remote.length === 0) return [];
  if (tls === undefined)
    return [{ code: without, where, detail: remote.map(({ host, port }) => `${host}:${port}`).join(", ") }];
  return isVerified(objectAt(tls, "common_tls_context"))
    ? []
    : [{ code: unverified, where, detail: "no `trusted_ca`, or no name in `match_typed_subject_alt_names`" }];
}

/** A certificate of some authority for any name proves nothing about the peer. */
function isVerified(context: Json | undefined): boolean {
  const combined = objectAt(context, "combined_validation_context", "default_validation_context");
  const own = objectAt(context, "validation_context") ?? combined;
  const fromSecret = ["validation_context_sds_secret_config", "combined_validation_context"].some(
    (name) => at(context, name) !== undefined,
  );
  const names = [...listAt(own, "match_typed_subject_alt_names"), ...listAt(own, "match_subject_alt_names")];
  const hasAuthority =
    fromSecret || at(own, "trusted_ca") !== undefined || at(own, "system_root_certs") !== undefined;
  if (at(own, "trust_chain_verification") === "ACCEPT_UNTRUSTED") return false;
  // the names may be in the secret, which the dump does not always have
  return hasAuthority && (names.length > 0 || (fromSecret && own === undefined));
}
