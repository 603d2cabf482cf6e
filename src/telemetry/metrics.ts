import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Where a hit, miss or eviction happened. */
export type CacheName = "tokens" | "decisions" | "denials" | "policy_sets" | "attributes";

/**
 * Every metric of the service, named here and nowhere else. One instance a process (and one a test), so that
 * nothing is shared by accident.
 *
 * `decisions = audit_recorded + audit_dropped + audit_queue` holds at any moment; the queue is empty at rest. So does
 * `outcomes = audit_outcomes_recorded + audit_outcomes_dropped + audit_outcomes_queue`.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    ...controlPlaneMetrics(registers),
    decisions: new Counter({
      name: "gatehouse_decisions_total",
      help: "Decisions made, by outcome and reason, those included that the proxy made by refusing a request.",
      labelNames: ["decision", "reason"] as const,
      registers,
    }),
    decisionDuration: new Histogram({
      name: "gatehouse_decision_duration_seconds",
      help: "Time from the decoded check to its encoded answer.",
      buckets: [
        0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.025, 0.05, 0.25, 1,
      ],
      registers,
    }),
    auditRecorded: new Counter({
      name: "gatehouse_audit_recorded_total",
      help: "Audit records written to their destination.",
      registers,
    }),
    auditDropped: new Counter({
      name: "gatehouse_audit_dropped_total",
      help: "Decisions without a written record, by cause (level, disabled, queue_full, write_failed, rate).",
      labelNames: ["cause"] as const,
      registers,
    }),
    auditBuildFailures: new Counter({
      name: "gatehouse_audit_build_failures_total",
      help: "Audit records that could not be built and were written with little more than the decision.",
      registers,
    }),
    auditSpooled: new Counter({
      name: "gatehouse_audit_spooled_total",
      help: "Records of decisions and outcomes that were written to the spool, for the control plane was away.",
      registers,
    }),
    auditSpoolBytes: new Gauge({
      name: "gatehouse_audit_spool_bytes",
      help: "Bytes in the spool of records that wait for the control plane.",
      registers,
    }),
    auditRejected: new Counter({
      name: "gatehouse_audit_rejected_total",
      help: "Records that count as recorded here and that the control plane did not accept.",
      registers,
    }),
    auditRejectedForTime: new Counter({
      name: "gatehouse_audit_rejected_for_time_total",
      help: "Of those, the ones whose time the control plane did not accept: a clock that is off, or a spool that waited too long.",
      registers,
    }),
    auditDeliveryFailures: new Counter({
      name: "gatehouse_audit_delivery_failures_total",
      help: "Batches of records that could not be handed to the control plane; they are tried again.",
      registers,
    }),
    auditQueue: new Gauge({
      name: "gatehouse_audit_queue_records",
      help: "Audit records accepted and not written yet.",
      registers,
    }),
    outcomes: new Counter({
      name: "gatehouse_outcomes_total",
      help: "Requests with a plan that are over, by event (response, connection).",
      labelNames: ["event"] as const,
      registers,
    }),
    auditOutcomesRecorded: new Counter({
      name: "gatehouse_audit_outcomes_recorded_total",
      help: "Outcome records written to their destination.",
      registers,
    }),
    auditOutcomesDropped: new Counter({
      name: "gatehouse_audit_outcomes_dropped_total",
      help: "Outcomes without a written record, by cause (level, disabled, queue_full, write_failed).",
      labelNames: ["cause"] as const,
      registers,
    }),
    auditOutcomesQueue: new Gauge({
      name: "gatehouse_audit_outcomes_queue_records",
      help: "Outcome records accepted and not written yet.",
      registers,
    }),
    accessLogSkipped: new Counter({
      name: "gatehouse_access_log_skipped_total",
      help: "Entries of Envoy's access log that were not understood or not needed, by cause (intermediate, no_plan, undecided, malformed, outcome).",
      labelNames: ["cause"] as const,
      registers,
    }),
    responses: new Counter({
      name: "gatehouse_responses_total",
      help: "Outcomes of allowed requests, by result (masked, unchanged, headers_only, passed, refused, unfinished, not_forwarded, delivered, failed).",
      labelNames: ["result"] as const,
      registers,
    }),
    upstreamFailures: new Counter({
      name: "gatehouse_upstream_failures_total",
      help: "Requests at which the application failed, by application and Envoy's response flag (UF, UC, UT, URX, NR ...).",
      labelNames: ["upstream", "flag"] as const,
      registers,
    }),
    messagesDropped: new Counter({
      name: "gatehouse_websocket_messages_dropped_total",
      help: "WebSocket messages that were not delivered, by direction (send, receive).",
      labelNames: ["direction"] as const,
      registers,
    }),
    connectionsClosed: new Counter({
      name: "gatehouse_websocket_connections_closed_total",
      help: "WebSocket connections that are over, by reason.",
      labelNames: ["reason"] as const,
      registers,
    }),
    connections: new Gauge({
      name: "gatehouse_websocket_connections",
      help: "WebSocket connections that are looked after.",
      registers,
    }),
    connectionsUnreported: new Counter({
      name: "gatehouse_websocket_connections_unreported_total",
      help: "WebSocket connections that were forgotten because Envoy no longer reported them: the line of their end was lost.",
      registers,
    }),
    connectionStateFailures: new Counter({
      name: "gatehouse_connection_state_failures_total",
      help: "Failed attempts to write the file that tells Envoy what became of open connections.",
      registers,
    }),
    cacheHits: new Counter({
      name: "gatehouse_cache_hits_total",
      help: "Cache look-ups that found an entry.",
      labelNames: ["cache"] as const,
      registers,
    }),
    cacheMisses: new Counter({
      name: "gatehouse_cache_misses_total",
      help: "Cache look-ups that found none.",
      labelNames: ["cache"] as const,
      registers,
    }),
    cacheEvictions: new Counter({
      name: "gatehouse_cache_evictions_total",
      help: "Entries that a full cache pushed out.",
      labelNames: ["cache"] as const,
      registers,
    }),
    policyReloads: new Counter({
      name: "gatehouse_policy_reload_total",
      help: "Attempts to load the policy set, by result (loaded, unchanged, failed).",
      labelNames: ["result"] as const,
      registers,
    }),
    policyReloadTime: new Gauge({
      name: "gatehouse_policy_reload_last_success_timestamp_seconds",
      help: "When the policy set in force was loaded.",
      registers,
    }),
    policySetInfo: new Gauge({
      name: "gatehouse_policy_set_info",
      help: "The policy set in force; always 1.",
      labelNames: ["policy_set", "digest"] as const,
      registers,
    }),
    customerPolicySets: new Gauge({
      name: "gatehouse_customer_policy_sets",
      help: "Policy sets that customers' policies name, by state (loaded, missing; outdated: loaded, and their newest version cannot be).",
      labelNames: ["state"] as const,
      registers,
    }),
    userLookupFailures: new Counter({
      name: "gatehouse_user_lookup_failures_total",
      help: "Look-ups of users that the control plane could not answer, by cause (failed, circuit, overload).",
      labelNames: ["cause"] as const,
      registers,
    }),
    feedTime: new Gauge({
      name: "gatehouse_control_plane_last_answer_timestamp_seconds",
      help: "When the control plane last said what has changed, or that nothing has.",
      registers,
    }),
    feedAnswers: new Counter({
      name: "gatehouse_control_plane_answers_total",
      help: "What the control plane said about its state, by kind (complete, change).",
      labelNames: ["kind"] as const,
      registers,
    }),
    feedFailures: new Counter({
      name: "gatehouse_control_plane_failures_total",
      help: "Failed attempts to learn from the control plane what has changed.",
      registers,
    }),
    feedKeyRefused: new Gauge({
      name: "gatehouse_control_plane_key_refused",
      help: "1 while the control plane refuses this gateway's API key (401 or 403).",
      registers,
    }),
    feedEntries: new Gauge({
      name: "gatehouse_control_plane_entries",
      help: "Customers, users, sessions and policy sets that the control plane has something to say about.",
      registers,
    }),
    jwksRefreshes: new Counter({
      name: "gatehouse_jwks_refresh_total",
      help: "Fetches of the issuer's keys, by result (loaded, failed).",
      labelNames: ["result"] as const,
      registers,
    }),
    jwksTime: new Gauge({
      name: "gatehouse_jwks_last_success_timestamp_seconds",
      help: "When the issuer's keys were last fetched.",
      registers,
    }),
    acceptedAmbiguities: new Counter({
      name: "gatehouse_accepted_ambiguities_total",
      help: "Requests that a switched-off check would have refused, by check.",
      labelNames: ["check"] as const,
      registers,
    }),
    processRestarts: new Counter({
      name: "gatehouse_process_restarts_total",
      help: "Processes that died and were started again, by kind (envoy, worker).",
      labelNames: ["process"] as const,
      registers,
    }),
  };
}

/** Those of a control plane that runs alone: it has no others. */
export function createControlPlaneMetrics() {
  const registry = new Registry();
  return { registry, ...controlPlaneMetrics([registry]) };
}

/** What a control plane counts, in a process of its own or in a gateway's. */
function controlPlaneMetrics(registers: Registry[]) {
  return {
    policyReloadFailed: new Gauge({
      name: "gatehouse_policy_reload_failed",
      help: "1 while the newest state of a source of policies (folder, control_plane) cannot be put in force; which set is, if any, says gatehouse_policy_set_info. With an environment: of a folder that the control plane publishes.",
      labelNames: ["source", "environment"] as const,
      registers,
    }),
    poolExhausted: new Counter({
      name: "gatehouse_database_pool_exhausted_total",
      help: "Times that no connection to the control plane's database became free in time, by environment and workload (api, feed, analytics, intake, keys); requests are answered 503. Of a control plane in this process.",
      labelNames: ["environment", "workload"] as const,
      registers,
    }),
  };
}

/** Metrics that are read from Envoy's statistics when they are asked for. */
export const UPSTREAM_METRICS = {
  responses: {
    name: "gatehouse_upstream_responses_total",
    help: "Answers by application and class of status, those included that Envoy gave because the application failed.",
    type: "counter",
  },
  dropped: {
    name: "gatehouse_access_log_dropped_total",
    help: "Entries of the access log for the service that Envoy dropped because it could not send them in time.",
    type: "counter",
  },
  duration: {
    name: "gatehouse_upstream_duration_seconds",
    help: "Time from the end of the request to the end of the application's answer.",
    type: "histogram",
  },
} as const;

export type Metrics = ReturnType<typeof createMetrics>;
export type ControlPlaneMetrics = ReturnType<typeof controlPlaneMetrics>;
