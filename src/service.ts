import { createAuditLog } from "./audit/index.ts";
import type { GatewayConfig } from "./config/index.ts";
import { ConnectionState } from "./decision/connection-state.ts";
import { ConnectionRegistry, type Rejudgement } from "./decision/connections.ts";
import { gatherEnded, takeConnectionMessage } from "./decision/connections-ended.ts";
import { createDecider } from "./decision/decide.ts";
import { DecisionPoint } from "./decision/decision-point.ts";
import { createIdentify } from "./decision/identify.ts";
import { createIdentityHeaders } from "./decision/identity-headers.ts";
import { PolicyStore } from "./decision/policy-store.ts";
import { nextDecisionId } from "./decision/record.ts";
import { FileSource } from "./decision/sources.ts";
import { VerdictCache } from "./decision/verdict-cache.ts";
import type { AccessRequest, Decision } from "./decision/types.ts";
import { createAccessLog, type AccessLogHandler } from "./extauthz/access-log.ts";
import { createOutcomeHandler } from "./extauthz/access-log-record.ts";
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
  /** What Envoy says about requests that are over. */
  readonly accessLog: AccessLogHandler;
  /** Takes what another process sent to all; anything else is ignored. */
  onMessage(message: unknown): void;
  /** Named conditions of readiness; the service is ready when all hold. */
  readiness(): { readonly policies: boolean; readonly identity: boolean };
  /** Loads policies, keys and sources, and goes on following them. Never rejects. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** What a service shares with the processes around it. */
export interface ServiceSurroundings {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Index of this process. */
  readonly worker: number;
  /** Folder of ours in which Envoy's Lua finds what became of open connections. */
  readonly stateDirectory: string;
  /** Sends to every worker, this one included. */
  readonly broadcast: (message: unknown) => void;
}

/** Composes one process's service from the configuration: the only place where the parts meet. */
export async function createService(
  config: GatewayConfig,
  { metrics, log, worker, stateDirectory, broadcast }: ServiceSurroundings,
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
    limits: { response: gateway.security.response_size_limit, message: gateway.security.message_size_limit },
  });
  const registry = new ConnectionRegistry({
    judge: async (access) => rejudgementOf(await decide(access)),
    changed: () => {
      state.changed();
    },
    every: policies.refresh_interval,
    metrics,
    log,
  });
  const state = new ConnectionState({
    directory: stateDirectory,
    worker,
    standings: () => registry.standings(),
    metrics,
    log,
  });
  store.afterChange(() => void registry.rejudge());
  const ended = gatherEnded(broadcast);
  const point = new DecisionPoint({ decide, snapshot: () => store.current, audit, metrics, log });
  const check = createCheck({
    point,
    identityHeaders: createIdentityHeaders(
      Object.entries(identity.headers).map(([header, path]) => [header, path.split(".")]),
    ),
    denialDetails: gateway.denial_details,
    tracing,
    nextDecisionId,
    connections: {
      place: state.place,
      add: ({ decisionId, text, expiresAt }, access, identity) =>
        registry.add({ decisionId, planText: text, expiresAt, access: lasting(access), identity }),
      ended: (ids) => {
        registry.ended(ids);
      },
    },
    log,
  });
  const accessLog = createAccessLog({
    onOutcome: createOutcomeHandler({
      audit,
      metrics,
      connectionEnded: (id) => {
        ended.add(id);
      },
    }),
    metrics,
    log,
  });

  return {
    check,
    accessLog,
    onMessage: (message) => {
      takeConnectionMessage(message, registry);
    },
    readiness: () => ({ policies: store.current !== undefined, identity: verifier.ready() }),
    async start() {
      await state.start();
      registry.start();
      await Promise.all([store.start(), verifier.start(), refreshSources()]);
      timer = setInterval(() => void refreshSources(), policies.refresh_interval).unref();
    },
    async close() {
      clearInterval(timer);
      store.close();
      verifier.close();
      registry.close();
      ended.flush();
      await Promise.all([state.close(), audit.close(), tracing.shutdown()]);
    },
  };
}

/** What a connection's handshake comes to, looked at again. */
function rejudgementOf({ verdict, reason, plan }: Decision): Rejudgement {
  return verdict === "ALLOW" ? { verdict, planText: JSON.stringify(plan) } : { verdict, reason };
}

/** A handshake as it is kept: its trace is over, and its deadline was for its answer. */
function lasting({ raw, peer, requestId, receivedAt }: AccessRequest): AccessRequest {
  return { raw, peer, requestId, receivedAt, deadline: Number.POSITIVE_INFINITY };
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
