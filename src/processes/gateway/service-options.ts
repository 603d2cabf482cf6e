import type { AuditDestination } from "../../audit/index.ts";
import type { GatewayConfig } from "../../config/index.ts";
import { recordIntake } from "../../sync/index.ts";
import type { ControlPlaneLink } from "./control-plane-link.ts";
/** What the audit log is told of the configuration. */
export function auditOptions(
  { audit, gateway }: GatewayConfig,
  link: ControlPlaneLink | undefined,
  worker: number,
) {
  return {
    enabled: audit.enabled,
    destination: auditDestination(audit, gateway.cluster.nodes, link, worker),
    level: audit.level,
    queueSize: audit.queue_size,
    refusalRate: audit.refusal_rate,
  };
}

function auditDestination(
  audit: GatewayConfig["audit"],
  workers: number,
  link: ControlPlaneLink | undefined,
  worker: number,
): AuditDestination {
  switch (audit.destination) {
    case "stdout":
      return { kind: "stdout" };
    case "file":
      return {
        kind: "file",
        path: audit.path,
        maxBytes: audit.max_file_size,
        maxFiles: audit.max_files,
        sync: audit.sync,
      };
    case "control_plane":
      if (link === undefined) throw new Error("no control plane is followed");
      return {
        kind: "control_plane",
        intake: recordIntake(link.client),
        spoolDirectory: audit.spool_directory,
        spoolBytes: audit.spool_size,
        worker,
        workers,
      };
  }
}

/** What tokens are verified by. */
export function identityOptions({ gateway, identity, policies }: GatewayConfig) {
  return {
    issuer: identity.issuer,
    audience: identity.audience,
    ...(identity.jwks !== undefined && { jwks: identity.jwks }),
    algorithms: identity.algorithms,
    clockToleranceSeconds: identity.clock_tolerance / 1000,
    cooldownMs: identity.jwks_cooldown,
    refreshIntervalMs: identity.jwks_refresh_interval,
    maxStaleMs: identity.jwks_max_stale,
    // a token without `typ` is a JWT (RFC 7519, section 5.1)
    tokenTypes: identity.token_types.includes("JWT") ? [...identity.token_types, ""] : identity.token_types,
    claims: identity.claims,
    // 0 is about decisions: tokens are kept all the same, as many as by default
    ...(policies.cache_size > 0 && { cacheSize: policies.cache_size }),
    cacheTtlMs: gateway.performance.policy_cache_ttl,
  };
}
