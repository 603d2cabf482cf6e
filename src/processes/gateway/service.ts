import { createAuditLog } from "../../audit/index.ts";
import { ArmCounter, type ArmCountsMessage } from "../../decision/rollout/arm-counter.ts";
import { DEFAULT_IDENTITY_HEADERS, type GatewayConfig } from "../../config/index.ts";
import type { UndecidedEntry } from "../../extauthz/access-log-decode.ts";
import { ConnectionCounts } from "../../decision/connections/connection-counts.ts";
import { ConnectionState } from "../../decision/connections/connection-state.ts";
import { ConnectionRegistry } from "../../decision/connections/connection-registry.ts";
import { belongsTo, type DecidedBy } from "../../decision/connections/connection-steady.ts";
import { gatherIds, takeConnectionMessage } from "../../decision/connections/connection-messages.ts";
import { callerOf } from "../../decision/decide/rollout-arm.ts";
import { createDecider, type DeciderDependencies } from "../../decision/decide/decide.ts";
import { connectionsPerUser, decisionSettings, frontProxyOptions } from "./decision-settings.ts";
import {
  createIdentifyConnection,
  createLoadShedding,
  DecisionPoint,
  type IdentifyConnection,
  nextDecisionId,
  type ServingDependencies,
} from "../../decision/point/index.ts";
import { createForgedHeaders } from "../../decision/headers/forged-headers.ts";
import { createFrontProxyReader } from "../../decision/decide/front-proxy.ts";
import { createIdentify } from "../../decision/decide/identify.ts";
import { createIdentityHeaders } from "../../decision/headers/identity-headers.ts";
import { createOpenConnections } from "../../decision/connections/open-connections.ts";
import { reevaluationOf } from "../../decision/connections/reevaluation.ts";
import { ownClusterOf } from "../../envoy-contract.ts";
import { isReleaseOrder, type ReleaseReport } from "../../decision/policies/release-messages.ts";
import { ReleaseReceiver } from "../../decision/policies/release-receiver.ts";
import { VerdictCache } from "../../decision/decide/verdict-cache.ts";
import { createAccessLog, type AccessLogHandler } from "../../extauthz/access-log.ts";
import { createOutcomeHandler } from "../../extauthz/access-log-record.ts";
import { createRefusalHandler, mayBeDecided, notForwarded } from "../../extauthz/access-log-refusal.ts";
import { Backlog } from "../../extauthz/backlog.ts";
import { createCheck } from "../../extauthz/check.ts";
import { isUndecidedMessage, UndecidedRequests } from "../../extauthz/undecided-requests.ts";
import type { CheckHandler } from "../../extauthz/server.ts";
import { recordIntake, StatisticsReporter } from "../../sync/index.ts";
import { attributeSources } from "./attribute-sources.ts";
import { inputProtection } from "./input-protection.ts";
import type { ShadowCountsMessage } from "../../decision/shadow/shadow-counter.ts";
import { createOtherDoors, type OtherDoors } from "./other-doors.ts";
import { createShadow } from "./shadow.ts";
import { usableTokenSources } from "./usable-token-sources.ts";
import { createVerifiers } from "./verifiers.ts";
import { isRolloutChangeMessage } from "./rollout-changes.ts";
import { forgedHeadersOf } from "./provisions.ts";
import { caseSensitive, createControlPlaneLink, type ControlPlaneLink } from "./control-plane-link.ts";
import { upstreamNames } from "../../gateway/index.ts";
import { keysCheck, tokenHeaders } from "../../identity/index.ts";
import { every, type Job } from "../../runtime/every.ts";
import { RateBudget } from "../../runtime/rate-budget.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { startTracing } from "../../telemetry/tracing.ts";
import { andThen } from "../../decision/promise-or-value.ts";

/** The decision service of one process, without the server in front of it. */
export interface Service extends OtherDoors {
  readonly check: CheckHandler;
  /** Identifies the clients of connections by their first messages; absent if that is not configured. */
  readonly identify?: IdentifyConnection;
  /** Handles Envoy's access-log entries about requests that have ended. */
  readonly accessLog: AccessLogHandler;
  /** Handles messages from the supervisor, or forwarded by it from another process; ignores other messages. */
  onMessage(message: unknown): void;
  /** Named readiness conditions; the service is ready when all of them hold. */
  readiness(): ServiceReadiness;
  /** Requests policies, loads keys and sources, and keeps them up to date. Never rejects. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** `control_plane` is absent if none is configured. */
export type ServiceReadiness = Readonly<
  Record<"policies" | "issuer_keys", CheckStatus> & Partial<Record<"control_plane", CheckStatus>>
>;

/** What a service shares with the other processes. */
export interface ServiceDependencies {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Index of this process. */
  readonly worker: number;
  /** Folder in which Envoy's Lua finds the state of open connections. */
  readonly stateDirectory: string;
  /** Envoy sends its access log to any one of the processes. */
  readonly hearsEnvoy: boolean;
  /** Sends to every worker, including this one. */
  readonly broadcast: (message: unknown) => void;
  /** Sends to the supervisor, which supplies the policies. */
  readonly sendRelease: (report: ReleaseReport) => void;
  /** Sends to the supervisor, which compares the arms of a rollout. */
  readonly sendCounts: (message: ArmCountsMessage | ShadowCountsMessage) => void;
}

/** Composes one process's service from the configuration: the only place where its parts are put together. */
export async function createService(
  config: GatewayConfig,
  {
    metrics,
    log,
    worker,
    stateDirectory,
    hearsEnvoy,
    broadcast,
    sendRelease,
    sendCounts,
  }: ServiceDependencies,
): Promise<Service> {
  const { gateway, identity, policies, telemetry } = config;
  const tracing = await startTracing({
    ...(telemetry.tracing.endpoint !== undefined && { endpoint: telemetry.tracing.endpoint }),
    sampleRatio: telemetry.tracing.sample_ratio,
    serviceName: "gatehouse",
  });
  const link = createControlPlaneLink(config, { metrics, log });
  const audit = createAuditLog(config.audit, {
    ...{ metrics, log, worker },
    workers: gateway.cluster.nodes,
    ...(link && { intake: recordIntake(link.client) }),
  });
  const tokens = usableTokenSources(config, { hearsEnvoy, worker, log });
  const { verifier, verifierOf, closeVerifiers } = createVerifiers(config, { tokens, link, metrics, log });
  const inForce = new ReleaseReceiver(
    { caseSensitive: caseSensitive(config) },
    { send: sendRelease, metrics, log },
  );
  const { sources, files, refreshSources } = attributeSources(config, link, { metrics, log });
  let refreshing: Job | undefined;
  let counting: Job | undefined;

  const cookie = identity.cookie === undefined ? {} : { cookie: identity.cookie };
  if (worker === 0 && !identity.cookie_origin_check)
    log.warn(
      {},
      "identity.cookie_origin_check is off: any site can act for users who are signed in with a cookie (CSRF)",
    );
  const failures = new RateBudget({ perSecond: FAILED_VERIFICATIONS_PER_SECOND });
  const shadow = createShadow({ config, tokens }, { audit, metrics, log });
  const deciding: DeciderDependencies = {
    policies: () => inForce.current,
    identify: createIdentify(verifier, { ...tokens, verifierOf, failed: () => failures.take() }),
    cache: new VerdictCache(
      { size: policies.cache_size, ttlMs: gateway.performance.policy_cache_ttl },
      metrics,
    ),
    sources,
    ...decisionSettings(config),
    tokens,
    ...(link && {
      controlPlane: {
        state: () => link.feed.current,
        whyUnknown: () => link.feed.status().detail,
      },
    }),
  };
  const decide = createDecider(deciding);
  const decidedBy = (): DecidedBy => ({ policies: inForce.current, state: link?.feed.current });
  const counts = new ConnectionCounts({ worker, broadcast });
  const registry = new ConnectionRegistry({
    perHolder: { limit: connectionsPerUser(config), counts },
    evaluate: (access) =>
      andThen(decide(access), (decision) => reevaluationOf(access, decision, decidedBy())),
    changed: () => {
      state.changed();
    },
    every: policies.refresh_interval,
    circumstances: () => [verifier.ready(), verifier.status().generation, decidedBy().state === undefined],
    metrics,
    log,
  });
  const state = new ConnectionState({
    directory: stateDirectory,
    worker,
    directives: () => ({ ...registry.directives(), ...registry.slots() }),
    metrics,
    log,
  });
  inForce.afterChange(() => void registry.reevaluate());
  if (link) reevaluateOnChange(registry, link);
  const statistics =
    link && new StatisticsReporter(`worker-${worker}`, { client: link.client, metrics, log });
  const ended = gatherIds(broadcast, "connections_ended");
  const open = gatherIds(broadcast, "connections_open");
  const abandoned = gatherIds(broadcast, "handshakes_abandoned");
  const arms = new ArmCounter(() => inForce.current?.candidate?.set.digest, callerOf);
  const inputs = inputProtection(config);
  const point = new DecisionPoint({
    ...{ audit, metrics, log },
    // not for open connections that are evaluated again
    decide: createDecider({
      ...deciding,
      shadow: shadow.observe,
      keepInputs: inputs !== undefined,
    }),
    snapshot: () => inForce.current?.main,
    concluded: (decision, elapsedMs) => {
      arms.count(decision, elapsedMs);
    },
    ...(inputs && { inputs }),
  });
  const backlog = new Backlog();
  const shed = createLoadShedding({
    ...{ ...cookie, tokens, verifier, verifierOf, failures },
    frontProxy: createFrontProxyReader(frontProxyOptions(config)),
    snapshot: () => inForce.current?.main,
  });
  const undecided = new UndecidedRequests({ worker, workers: gateway.cluster.nodes, send: broadcast });
  const serving: ServingDependencies = {
    point,
    undecided,
    shed: (access) => (backlog.take(access.receivedAt) ? shed(access) : undefined),
    identityHeaders: createIdentityHeaders(
      Object.entries(identity.headers).map(([header, path]) => [header, path.split(".")]),
      [...Object.keys(DEFAULT_IDENTITY_HEADERS), ...tokenHeaders(tokens)],
    ),
    forgedHeaders: createForgedHeaders(forgedHeadersOf(config)),
    denialDetails: gateway.denial_details,
    ...{ ...cookie, tokens, cors: () => inForce.current?.main.cors },
    ...(identity.sign_in_url !== undefined && { signInUrl: identity.sign_in_url }),
    tracing,
    nextDecisionId,
    connections: createOpenConnections(registry, { decidedBy, hearsProxy: hearsEnvoy }),
    log,
  };
  const identify =
    tokens.connectionParams === undefined
      ? undefined
      : createIdentifyConnection({
          ...{ point, registry, tokens, decidedBy, nextDecisionId },
          decisionTimeout: config.authz.decision_timeout,
        });
  const tells = config.audit.outcomes || gateway.access_log !== "off";
  const check = createCheck({
    ...serving,
    decisionTimeout: config.authz.decision_timeout,
    queueTimeout: config.authz.queue_timeout,
    place: { ...state.place, ...(identify && { identify: ownClusterOf(worker) }) },
    ...(tells && { records: { path: gateway.access_log !== "off" } }),
    log,
  });
  const upstreams = upstreamNames(config);
  for (const upstream of new Set(upstreams.values()))
    for (const flag of USUAL_FLAGS) metrics.upstreamFailures.inc({ upstream, flag }, 0);
  const recordRefusal = createRefusalHandler({
    audit,
    metrics,
    snapshot: () => inForce.current?.main,
    nextDecisionId,
    clientIp: clientIpReader(config),
  });
  const recordOutcome = createOutcomeHandler({
    audit,
    metrics,
    connectionEnded: (id) => {
      ended.add(id);
    },
  });
  const accessLog = createAccessLog({
    onOutcome: recordOutcome,
    onRefusal: (entry) => {
      // first: a failure below must not leave a connection tracked
      // also where Envoy waited no longer for an answer that was already on its way
      const isAwaited = mayBeDecided(entry);
      if (isAwaited || entry.flags.clientGone === true) abandoned.add(entry.request.id);
      if (!isAwaited) recordRefusal(entry);
      else
        undecided.report(entry.request.id, (decided) => {
          if (decided) recordOutcome(notForwarded(entry));
          else recordRefusal(entry);
        });
    },
    onOpen: (id) => {
      open.add(id);
    },
    metrics,
    log,
    upstreams,
    everyRequest: config.audit.outcomes,
  });

  return {
    check,
    ...(identify && { identify }),
    ...createOtherDoors(config, {
      ...serving,
      snapshot: () => inForce.current?.main,
      listSubjects: (source) => files.get(source)?.list(),
      trial: new DecisionPoint({ audit, metrics, log, decide, snapshot: () => inForce.current?.main }),
    }),
    accessLog,
    onMessage: (message) => {
      if (isReleaseOrder(message)) inForce.take(message);
      else if (isUndecidedMessage(message)) undecided.take(message);
      else if (isRolloutChangeMessage(message)) {
        metrics.outcomes.inc({ event: "rollout" });
        audit.recordOutcome(true, () => message.record);
      } else takeConnectionMessage(message, registry, counts);
    },
    readiness: () => ({
      policies: inForce.status(),
      issuer_keys: keysCheck(verifier.status()),
      ...(link && { control_plane: link.feed.status() }),
    }),
    async start() {
      await state.start();
      registry.start();
      counts.start();
      await link?.start();
      inForce.start();
      await Promise.all([verifier.start(), refreshSources()]);
      statistics?.start();
      const what = "refresh attribute sources";
      refreshing = every(policies.refresh_interval, refreshSources, { what, log });
      const count = () => {
        for (const counted of [arms.take(), shadow.take()]) if (counted !== undefined) sendCounts(counted);
      };
      counting = every(COUNT_MS, count, { what: "report the arms of the rollout", log });
    },
    async close() {
      await refreshing?.close();
      await counting?.close();
      shadow.close();
      inForce.close();
      closeVerifiers();
      registry.close();
      for (const gathered of [ended, open, abandoned]) gathered.flush();
      undecided.close();
      await Promise.all([state.close(), audit.close(), tracing.shutdown()]);
      await statistics?.close();
      // last: audit records are sent through it
      link?.close();
    },
  };
}

/** How often the supervisor gets the counts of a rollout's arms. */
const COUNT_MS = 1_000;

/** Gauges that exist from the start, so that the first failure is an increase. */
const USUAL_FLAGS = ["UF", "UC", "UT", "UH", "UR", "UO"];

/** Limits the cost of verifying unknown tokens while checks are queued; above it they are not verified. */
const FAILED_VERIFICATIONS_PER_SECOND = 100;

/** The client's address for requests on which no decision was made. */
function clientIpReader(config: GatewayConfig): (entry: UndecidedEntry) => string {
  const read = createFrontProxyReader(frontProxyOptions(config));
  const viaProxyProtocol = config.gateway.proxy_protocol !== "off";
  const nothing = { method: "", target: "", scheme: "http", host: "", protocol: "" };
  return ({ peer, remote, request: { addresses: headers } }) =>
    viaProxyProtocol ? remote : read({ raw: { ...nothing, headers }, peer }).clientIp;
}

/** Changes from the control plane close connections or have them evaluated again. */
function reevaluateOnChange(registry: ConnectionRegistry, { feed }: ControlPlaneLink): void {
  feed.onChange(({ sessions, customers, users, complete }) => {
    const ended = new Set(sessions);
    if (ended.size > 0) registry.revoke(({ identity }) => ended.has(identity?.session.id ?? ""));
    if (complete) void registry.reevaluate();
    else if (customers.length > 0 || users.length > 0)
      void registry.reevaluate(belongsTo({ customers, users }));
  });
}
