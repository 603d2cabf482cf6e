import { createAuditLog } from "./audit/index.ts";
import type { GatewayConfig } from "./config/index.ts";
import { createDecider } from "./decision/decide.ts";
import { DecisionPoint } from "./decision/decision-point.ts";
import { createIdentify } from "./decision/identify.ts";
import { createIdentityHeaders } from "./decision/identity-headers.ts";
import { PolicyStore } from "./decision/policy-store.ts";
import { FileSource } from "./decision/sources.ts";
import { VerdictCache } from "./decision/verdict-cache.ts";
import { createCheck } from "./extauthz/check.ts";
import type { CheckHandler } from "./extauthz/server.ts";
import { createTokenVerifier } from "./identity/index.ts";
import { REFUSAL_CHECKS, type RefusalCheck } from "./request/index.ts";
import type { Log } from "./telemetry/log.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import { startTracing } from "./telemetry/tracing.ts";

/** The decision service of one process, without the server in front of it. */
export interface Service {
  readonly check: CheckHandler;
  /** Named conditions of readiness; the service is ready when all hold. */
  readiness(): { readonly policies: boolean; readonly identity: boolean };
  /** Loads policies, keys and sources, and goes on following them. Never rejects. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Composes one process's service from the configuration: the only place where the parts meet. */
export async function createService(
  config: GatewayConfig,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): Promise<Service> {
  const { gateway, identity, policies, telemetry } = config;
  const tracing = await startTracing({
    ...(telemetry.tracing.endpoint !== undefined && { endpoint: telemetry.tracing.endpoint }),
    sampleRatio: telemetry.tracing.sample_ratio,
    serviceName: "gatehouse",
  });
  const audit = createAuditLog(auditOptions(config), { metrics, log });
  const verifier = createTokenVerifier(identityOptions(config), { metrics, log });
  const store = new PolicyStore(storeOptions(config), { metrics, log });
  const sources = new Map(
    Object.entries(config.attribute_sources).map(([name, { path }]) => [name, new FileSource(path, log)]),
  );
  const refreshSources = () => Promise.all([...sources.values()].map((source) => source.refresh()));
  let timer: NodeJS.Timeout | undefined;

  const decide = createDecider({
    snapshot: () => store.current,
    identify: createIdentify(verifier, { ...(identity.cookie !== undefined && { cookie: identity.cookie }) }),
    cache: new VerdictCache(
      { size: policies.cache_size, ttlMs: gateway.performance.policy_cache_ttl },
      metrics,
    ),
    sources,
    frontProxy: { trustedProxies: gateway.trusted_proxies, backends: gateway.backends },
    switchedOff: switchedOff(config),
    environment: policies.environment,
  });
  const point = new DecisionPoint({ decide, snapshot: () => store.current, audit, metrics, log });
  const check = createCheck({
    point,
    identityHeaders: createIdentityHeaders(
      Object.entries(identity.headers).map(([header, path]) => [header, path.split(".")]),
    ),
    denialDetails: gateway.denial_details,
    tracing,
    log,
  });

  return {
    check,
    readiness: () => ({ policies: store.current !== undefined, identity: verifier.ready() }),
    async start() {
      await Promise.all([store.start(), verifier.start(), refreshSources()]);
      timer = setInterval(() => void refreshSources(), policies.refresh_interval).unref();
    },
    async close() {
      clearInterval(timer);
      store.close();
      verifier.close();
      await Promise.all([audit.close(), tracing.shutdown()]);
    },
  };
}

/** How the policy store of a process is set up; the supervisor follows the same folder. */
export function storeOptions({ gateway, policies }: GatewayConfig) {
  return {
    directory: policies.directory,
    policySet: policies.policy_set,
    refreshIntervalMs: policies.refresh_interval,
    caseSensitive: gateway.accept_ambiguous.includes("letter_case"),
  };
}

function switchedOff({ gateway }: GatewayConfig): ReadonlySet<RefusalCheck> {
  return new Set(REFUSAL_CHECKS.filter((check) => gateway.accept_ambiguous.includes(check)));
}

function auditOptions({ audit }: GatewayConfig) {
  return {
    enabled: audit.enabled,
    destination:
      audit.destination === "stdout"
        ? { kind: "stdout" as const }
        : {
            kind: "file" as const,
            path: audit.path,
            maxBytes: audit.max_file_size,
            maxFiles: audit.max_files,
          },
    level: audit.level,
    queueSize: audit.queue_size,
  };
}

function identityOptions({ gateway, identity, policies }: GatewayConfig) {
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
    cacheSize: policies.cache_size,
    cacheTtlMs: gateway.performance.policy_cache_ttl,
  };
}
