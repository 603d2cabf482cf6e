import type { OutcomeLog } from "../audit/types.ts";
import { CLOSED_BY, DIRECTION, RESULT } from "../envoy-contract.ts";
import type { OutcomeRecord } from "../protocol/record.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { RequestOutcome } from "./access-log.ts";
import type { ConnectionOutcome, ResponseOutcome } from "./access-log-outcome.ts";

export interface OutcomeDependencies {
  readonly audit: OutcomeLog;
  readonly metrics: Pick<Metrics, "outcomes" | "responses" | "messagesDropped" | "connectionsClosed">;
  /** Called for each permitted WebSocket handshake when its connection has ended. */
  readonly connectionEnded: (decisionId: string) => void;
}

/** @returns the handler of outcomes, which counts and records them and reports ended connections. */
export function createOutcomeHandler(dependencies: OutcomeDependencies): (outcome: RequestOutcome) => void {
  const { audit, metrics, connectionEnded } = dependencies;
  const reasonOf = closeReasons();
  return (outcome) => {
    // first: a failure below must not leave a connection tracked
    if (outcome.handshake || outcome.event === "connection") connectionEnded(outcome.decisionId);
    metrics.outcomes.inc({ event: outcome.event });
    audit.recordOutcome(isNotable(outcome), () => outcomeRecord(outcome));
    if (outcome.event === "response") metrics.responses.inc({ result: outcome.response.result });
    else {
      const { sent, received, closed } = outcome.connection;
      metrics.messagesDropped.inc({ direction: DIRECTION.send }, sent.dropped);
      metrics.messagesDropped.inc({ direction: DIRECTION.receive }, received.dropped);
      metrics.connectionsClosed.inc({ reason: reasonOf(closed) });
    }
  };
}

/** The gateway withheld or cut off something. */
function isNotable(outcome: RequestOutcome): boolean {
  if (outcome.event === "response") {
    const { result, dropped, reason } = outcome.response;
    return result === RESULT.refused || result === "failed" || dropped > 0 || reason !== undefined;
  }
  const { sent, received, closed } = outcome.connection;
  return sent.dropped > 0 || received.dropped > 0 || byGateway(closed);
}

type Closed = ConnectionOutcome["closed"];

function byGateway(closed: Closed): boolean {
  return closed !== undefined && closed.by !== CLOSED_BY.peer;
}

/** Builds the record of an outcome. Called when it is written. */
export function outcomeRecord(outcome: RequestOutcome): OutcomeRecord {
  const common = {
    timestamp: new Date(outcome.at).toISOString(),
    event: outcome.event,
    decision_id: outcome.decisionId,
    ...(outcome.requestId !== undefined && { request_id: outcome.requestId }),
    response_code: outcome.responseCode,
    duration_ms: Math.floor(outcome.durationMs),
    response_bytes: outcome.responseBytes,
    detail: outcome.details,
  };
  return outcome.event === "response"
    ? { ...common, ...responseFields(outcome.response), ...upstreamFields(outcome) }
    : { ...common, ...connectionFields(outcome.connection) };
}

function responseFields({ result, reason, paths, count, dropped }: ResponseOutcome) {
  return {
    result,
    ...(reason !== undefined && { reason }),
    masked_count: count,
    masked_paths: paths,
    documents_dropped: dropped,
  };
}

function upstreamFields({ failures, upstream, upstreamStatus, upstreamMs }: RequestOutcome) {
  return {
    ...(failures && { response_flags: failures.join() }),
    ...(upstream !== undefined && { upstream }),
    ...(upstreamStatus !== undefined && { upstream_status: upstreamStatus }),
    ...(upstreamMs !== undefined && { upstream_ms: Math.floor(upstreamMs) }),
  };
}

function connectionFields({ sent, received, denied, paths, sets, closed }: ConnectionOutcome) {
  return {
    result: byGateway(closed) ? ("closed" as const) : ("ended" as const),
    masked_count: received.masked,
    masked_paths: paths,
    sent_delivered: sent.delivered,
    sent_dropped: sent.dropped,
    received_delivered: received.delivered,
    received_dropped: received.dropped,
    denied_messages: denied.map(({ set, ...messages }) => ({
      ...messages,
      ...(set !== undefined && { policy_digest: set }),
    })),
    ...(sets && { policy_digests: sets }),
    ...(closed && {
      ...(closed.code !== undefined && { close_code: closed.code }),
      close_reason: closed.reason,
      closed_by: closed.by,
    }),
  };
}

/** Far more than the number of Lua's reasons; a label must not have unboundedly many values. */
const MAX_REASONS = 40;

/** Reasons as values of a metric label: the gateway's own, `PEER`, `NONE` if there is none, `OTHER`. */
function closeReasons(): (closed: Closed) => string {
  const seen = new Set<string>();
  return (closed) => {
    if (closed === undefined) return "NONE";
    if (!byGateway(closed)) return "PEER";
    if (!/^[A-Z][A-Z_]{0,39}$/.test(closed.reason)) return "OTHER";
    if (seen.size < MAX_REASONS) seen.add(closed.reason);
    return seen.has(closed.reason) ? closed.reason : "OTHER";
  };
}
