import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { controlPlaneMetrics } from "./control-plane-metrics.ts";

/** Where a hit, miss or eviction happened. */
export type CacheName = "tokens" | "decisions" | "denials" | "policy_sets" | "attributes";

/**
 * Every metric of a gateway is named here, and those of a control plane in `control-plane-metrics.ts`. One instance per process
 * (and per test), so that nothing is shared by accident.
 *
 * At any moment `decisions = audit_recorded + audit_dropped + audit_queue` and
 * `outcomes = audit_outcomes_recorded + audit_outcomes_dropped + audit_outcomes_queue`; the queues are empty at rest.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    ...controlPlaneMetrics(registers),
    decisions: new Counter({
      name: "gatehouse_decisions_total",
      help: "Decisions, by outcome and reason, including requests that Envoy refused itself.",
      labelNames: ["decision", "reason"] as const,
      registers,
    }),
    decisionDuration: new Histogram({
      name: "gatehouse_decision_duration_seconds",
      help: "Time from the decoded check request to its encoded response.",
      buckets: [
        0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.025, 0.05, 0.25, 1,
      ],
      registers,
    }),
    authorizersRefused: new Counter({
      name: "gatehouse_http_authorizers_refused_total",
      help: "Requests to `authz.http_listen` and `authz.spop_listen` that got no decision, by cause (stranger, unknown_path, malformed, not_serving, overloaded, late).",
      labelNames: ["cause"] as const,
      registers,
    }),
    auditRecorded: new Counter({
      name: "gatehouse_audit_recorded_total",
      help: "Audit records written to their destination.",
      registers,
    }),
    auditDropped: new Counter({
      name: "gatehouse_audit_dropped_total",
      help: "Decisions without a written audit record, by cause (level, disabled, queue_full, write_failed, rate).",
      labelNames: ["cause"] as const,
      registers,
    }),
    auditBuildFailures: new Counter({
      name: "gatehouse_audit_build_failures_total",
      help: "Audit records that could not be built and were written in a minimal form.",
      registers,
    }),
    auditSpooled: new Counter({
      name: "gatehouse_audit_spooled_total",
      help: "Decision and outcome records written to the spool because the control plane was unavailable.",
      registers,
    }),
    auditSpoolBytes: new Gauge({
      name: "gatehouse_audit_spool_bytes",
      help: "Bytes in the spool, waiting for the control plane.",
      registers,
    }),
    auditRejected: new Counter({
      name: "gatehouse_audit_rejected_total",
      help: "Records counted as recorded that the control plane rejected.",
      registers,
    }),
    auditRejectedForTime: new Counter({
      name: "gatehouse_audit_rejected_for_time_total",
      help: "Rejected records whose timestamp the control plane did not accept: a wrong clock, or records that were spooled for too long.",
      registers,
    }),
    statisticsRefused: new Counter({
      name: "gatehouse_statistics_refused_total",
      help: "Reports of cache and audit statistics that the control plane did not count, by reason (CLOCK_AHEAD, TOO_OLD, INVALID).",
      labelNames: ["reason"] as const,
      registers,
    }),
    auditDeliveryFailures: new Counter({
      name: "gatehouse_audit_delivery_failures_total",
      help: "Failed attempts to send a batch of records to the control plane; they are retried.",
      registers,
    }),
    auditQueue: new Gauge({
      name: "gatehouse_audit_queue_records",
      help: "Audit records accepted but not written yet.",
      registers,
    }),
    outcomes: new Counter({
      name: "gatehouse_outcomes_total",
      help: "Requests with a plan that have ended, and other events with a record, by event (response, connection, shadow_decision, rollout).",
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
      help: "Outcome records accepted but not written yet.",
      registers,
    }),
    accessLogSkipped: new Counter({
      name: "gatehouse_access_log_skipped_total",
      help: "Envoy access-log entries that were ignored, by cause (intermediate, no_plan, undecided, malformed, outcome).",
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
      help: "Requests that failed at the application, by application and Envoy response flag (UF, UC, UT, URX, NR ...).",
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
      help: "WebSocket connections that have ended, by reason.",
      labelNames: ["reason"] as const,
      registers,
    }),
    connections: new Gauge({
      name: "gatehouse_websocket_connections",
      help: "Open WebSocket connections that are tracked.",
      registers,
    }),
    connectionsUnreported: new Counter({
      name: "gatehouse_websocket_connections_unreported_total",
      help: "WebSocket connections dropped from tracking because Envoy no longer reported them: the log entry of their end was lost.",
      registers,
    }),
    connectionStateFailures: new Counter({
      name: "gatehouse_connection_state_failures_total",
      help: "Failed attempts to write the file that tells Envoy the state of open connections.",
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
      help: "Cache look-ups that found no entry.",
      labelNames: ["cache"] as const,
      registers,
    }),
    cacheEvictions: new Counter({
      name: "gatehouse_cache_evictions_total",
      help: "Entries evicted from a full cache.",
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
      help: "Time at which the policy set in force was loaded.",
      registers,
    }),
    policySetInfo: new Gauge({
      name: "gatehouse_policy_set_info",
      help: "The policy set in force; always 1.",
      labelNames: ["policy_set", "digest"] as const,
      registers,
    }),
    rolloutPercentage: new Gauge({
      name: "gatehouse_rollout_percentage",
      help: "The part of the callers for whom the candidate in force decides, in percent; 0 in shadow mode. Absent without a candidate.",
      labelNames: ["policy_set", "digest", "mode"] as const,
      registers,
    }),
    rolloutGuard: new Gauge({
      name: "gatehouse_rollout_guard",
      help: "1 for the result of the last comparison of candidate and stable set, by outcome (ok, inconclusive, worse).",
      labelNames: ["outcome"] as const,
      registers,
    }),
    shadowDecisions: new Counter({
      name: "gatehouse_shadow_decisions_total",
      help: "Decisions for the candidate's evaluation in shadow, by result (same, different; failed: it could not decide; dropped: no room in the queue, a body over 64 KiB, or one that only the candidate reads).",
      labelNames: ["result"] as const,
      registers,
    }),
    shadowDifferences: new Counter({
      name: "gatehouse_shadow_differences_total",
      help: "Decisions that a candidate in shadow would have made differently, by difference (denies, allows, plan) and rule (the candidate's, otherwise the stable set's).",
      labelNames: ["difference", "rule"] as const,
      registers,
    }),
    rolloutRollbacks: new Counter({
      name: "gatehouse_rollout_rollbacks_total",
      help: "Candidates that the guard took back, by cause (denials, errors, slow).",
      labelNames: ["cause"] as const,
      registers,
    }),
    customerPolicySets: new Gauge({
      name: "gatehouse_customer_policy_sets",
      help: "Policy sets that customers use, by state (loaded; missing; outdated: loaded, but the newest version failed to load).",
      labelNames: ["state"] as const,
      registers,
    }),
    userLookupFailures: new Counter({
      name: "gatehouse_user_lookup_failures_total",
      help: "Look-ups of users and API keys that the control plane did not answer, by cause (failed, circuit, overload).",
      labelNames: ["cause"] as const,
      registers,
    }),
    feedTime: new Gauge({
      name: "gatehouse_control_plane_last_answer_timestamp_seconds",
      help: "Time of the last successful sync with the control plane, with or without changes.",
      registers,
    }),
    feedAnswers: new Counter({
      name: "gatehouse_control_plane_answers_total",
      help: "State updates from the control plane, by kind (complete, page, change).",
      labelNames: ["kind"] as const,
      registers,
    }),
    feedFailures: new Counter({
      name: "gatehouse_control_plane_failures_total",
      help: "Failed attempts to sync with the control plane.",
      registers,
    }),
    feedKeyRefused: new Gauge({
      name: "gatehouse_control_plane_key_refused",
      help: "1 while the control plane refuses this gateway's API key (401 or 403).",
      registers,
    }),
    feedEntries: new Gauge({
      name: "gatehouse_control_plane_entries",
      help: "Customers, users, sessions and policy sets in the state received from the control plane.",
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
      help: "Time at which the issuer's keys were last fetched.",
      registers,
    }),
    acceptedAmbiguities: new Counter({
      name: "gatehouse_accepted_ambiguities_total",
      help: "Requests that a disabled ambiguity check would have refused, by check.",
      labelNames: ["check"] as const,
      registers,
    }),
    workers: new Gauge({
      name: "gatehouse_workers",
      help: "Worker processes of this gateway, by state (configured, ready).",
      labelNames: ["state"] as const,
      registers,
    }),
    checkOk: new Gauge({
      name: "gatehouse_check_ok",
      help: "1 while a check of /readyz is met, otherwise 0, by check (envoy, workers, policies, issuer_keys, control_plane, customer_policy_sets).",
      labelNames: ["check"] as const,
      registers,
    }),
    processRestarts: new Counter({
      name: "gatehouse_process_restarts_total",
      help: "Processes that died and were restarted, by kind (envoy, worker).",
      labelNames: ["process"] as const,
      registers,
    }),
  };
}

/**
 * Writes zeros for what is counted rarely: Prometheus sees an increase only from a sample that it already has, so the first
 * lost record would raise no alert.
 */
export function startAtZero(
  metrics: Pick<Metrics, "auditDropped" | "auditOutcomesDropped" | "statisticsRefused" | "processRestarts">,
): void {
  for (const cause of ["queue_full", "write_failed"]) {
    metrics.auditDropped.inc({ cause }, 0);
    metrics.auditOutcomesDropped.inc({ cause }, 0);
  }
  metrics.statisticsRefused.inc({ reason: "CLOCK_AHEAD" }, 0);
  for (const process of ["envoy", "worker"]) metrics.processRestarts.inc({ process }, 0);
}

/** Metrics that are read from Envoy's statistics at scrape time. */
export const UPSTREAM_METRICS = {
  responses: {
    name: "gatehouse_upstream_responses_total",
    help: "Responses by application and status class, including those that Envoy sent because the application failed.",
    type: "counter",
  },
  dropped: {
    name: "gatehouse_access_log_dropped_total",
    help: "Access-log entries for the service that Envoy dropped because it could not send them in time.",
    type: "counter",
  },
  duration: {
    name: "gatehouse_upstream_duration_seconds",
    help: "Time from the end of the request to the end of the application's response.",
    type: "histogram",
  },
} as const;

export type Metrics = ReturnType<typeof createMetrics>;
