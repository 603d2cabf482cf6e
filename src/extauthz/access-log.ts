import { RESULT, STATE } from "../envoy-contract.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { readAccessLog, type AccessLogEntry, type UndecidedEntry } from "./access-log-decode.ts";
import { refusalReason } from "./access-log-refusal.ts";
import {
  readOutcome,
  type ConnectionOutcome,
  type NotedOutcome,
  type ResponseResult,
} from "./access-log-outcome.ts";

/** The outcome of an allowed request, which only Envoy knows. */
export type RequestOutcome = NotedOutcome & {
  /** Empty if it had no plan. */
  readonly decisionId: string;
  /** Present if it was not forwarded. */
  readonly requestId?: string;
  /** It was a permitted WebSocket handshake, and its connection (if there was one) has ended. */
  readonly handshake: boolean;
  /** When the request ended; Unix ms. */
  readonly at: number;
  readonly durationMs: number;
  /** 0 if there was no response. */
  readonly responseCode: number;
  readonly responseBytes: number;
  /** Envoy's response code details. */
  readonly details: string;
  /** Envoy's flags for failures of the application. */
  readonly failures?: readonly string[];
  /** The application, if one was chosen. */
  readonly upstream?: string;
  /** Its status, if it responded. */
  readonly upstreamStatus?: number;
  readonly upstreamMs?: number;
};

export interface AccessLogDependencies {
  readonly onOutcome: (outcome: RequestOutcome) => void;
  /** Receives each request that ended without a decision of ours and was not forwarded. */
  readonly onRefusal: (entry: UndecidedEntry) => void;
  /** Periodically receives the decision of each open connection. */
  readonly onOpen?: (decisionId: string) => void;
  readonly metrics: Pick<Metrics, "accessLogSkipped" | "upstreamFailures">;
  /** Applications by the names of their clusters. */
  readonly upstreams?: ReadonlyMap<string, string>;
  /** Every allowed request has an outcome, even without a plan. Default: false. */
  readonly everyRequest?: boolean;
  readonly log: { error(object: object, message: string): void };
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Handles the bytes of one StreamAccessLogsMessage. Never throws. */
export type AccessLogHandler = (bytes: Buffer) => void;

/**
 * Handles Envoy's access log. Requests with a plan become outcomes; if only the decision can be read, the outcome is
 * `unfinished`, so that every plan leaves an outcome. Requests that were allowed but ended in Envoy have the outcome
 * `not_forwarded`. Requests that Envoy refused before there was a decision are passed on. Unreadable entries are counted.
 */
export function createAccessLog(dependencies: AccessLogDependencies): AccessLogHandler {
  const {
    onOutcome,
    onRefusal,
    onOpen = () => undefined,
    metrics,
    log,
    upstreams = new Map<string, string>(),
    everyRequest = false,
  } = dependencies;
  const clock = dependencies.clock ?? Date.now;
  const take = (entry: AccessLogEntry): void => {
    const noted = notedIn(entry);
    if (noted === undefined) metrics.accessLogSkipped.inc({ cause: "outcome" });
    try {
      onOutcome(outcomeOf(entry, noted ?? UNREADABLE, clock(), upstreams));
    } catch (error) {
      log.error({ err: error, decision_id: entry.decisionId }, "could not record an outcome");
    }
  };
  const passOver = (cause: string) => {
    metrics.accessLogSkipped.inc({ cause });
  };
  const undecided = (entry: UndecidedEntry): void => {
    if (entry.forwarded) {
      passOver("undecided");
      log.error({ request_id: entry.request.id }, "envoy forwarded a request without a decision");
      return;
    }
    try {
      onRefusal(entry);
    } catch (error) {
      log.error({ err: error, request_id: entry.request.id }, "could not record a refusal");
    }
  };
  const failed = (cluster: string, flag: string) => {
    metrics.upstreamFailures.inc({
      upstream: upstreams.get(cluster) ?? (cluster === "" ? "none" : "other"),
      flag,
    });
  };
  return (bytes) => {
    readAccessLog(bytes, { planned: take, undecided, open: onOpen, failed, passOver }, { everyRequest });
  };
}

const UNREADABLE: NotedOutcome = {
  event: "response",
  response: { result: RESULT.unfinished, reason: "unreadable_outcome", paths: [], count: 0, dropped: 0 },
};
const SILENT: ConnectionOutcome = {
  sent: { delivered: 0, dropped: 0 },
  received: { delivered: 0, dropped: 0, masked: 0 },
  denied: [],
  paths: [],
};

/** What Lua recorded, or what it means that it recorded nothing. What it recorded on Envoy's own responses is ignored. */
function notedIn(entry: AccessLogEntry): NotedOutcome | undefined {
  const { outcome, handshake, state, stopped, planned } = entry;
  if (stopped !== undefined) {
    const reason = refusalReason(entry);
    return {
      event: "response",
      response: { result: "not_forwarded", reason, paths: [], count: 0, dropped: 0 },
    };
  }
  if (!planned || isEnvoysAnswer(entry)) return response(withoutPlan(entry));
  if (outcome !== undefined) return readOutcome(outcome);
  if (handshake && state === STATE.stream) return { event: "connection", connection: SILENT };
  return response(state === STATE.done ? RESULT.unchanged : RESULT.unfinished);
}

function response(result: ResponseResult): NotedOutcome {
  return { event: "response", response: { result, paths: [], count: 0, dropped: 0 } };
}

/** The application failed before it responded: the delivered response, which Lua may have processed, is Envoy's own. */
function isEnvoysAnswer({ flags, handshake, details }: AccessLogEntry): boolean {
  return flags.upstream !== undefined && !handshake && !ANSWERED.test(details);
}

/** Envoy's details if the application has started its response. */
const ANSWERED = /^(?:via_upstream|upstream_reset_after_response_started|response_payload_too_large)/;

function withoutPlan({ flags }: AccessLogEntry): ResponseResult {
  if (flags.upstream !== undefined) return "failed";
  return flags.clientGone === true ? RESULT.unfinished : "delivered";
}

function outcomeOf(
  entry: AccessLogEntry,
  noted: NotedOutcome,
  now: number,
  upstreams: ReadonlyMap<string, string>,
): RequestOutcome {
  const { decisionId, handshake, responseCode, responseBytes, details, stopped } = entry;
  const { startedAt, answeredAfter, endedAfter, flags, upstream } = entry;
  const name = upstreams.get(upstream.cluster);
  // a response ends with its last byte, a connection with its stream
  const [first, second] =
    noted.event === "response" ? [answeredAfter, endedAfter] : [endedAfter, answeredAfter];
  const durationMs = first ?? second ?? 0;
  const at = startedAt === undefined ? now : startedAt + durationMs;
  return {
    ...noted,
    decisionId,
    ...(stopped && { requestId: stopped.requestId }),
    handshake,
    at: at <= MAX_TIME ? at : now,
    durationMs,
    responseCode,
    responseBytes,
    details,
    ...(flags.upstream && { failures: flags.upstream }),
    ...(name !== undefined && { upstream: name }),
    ...(noted.event === "response" &&
      ANSWERED.test(details) && { upstreamStatus: upstream.status ?? responseCode }),
    ...(upstream.durationMs !== undefined && { upstreamMs: upstream.durationMs }),
  };
}

/** The largest time value of a date (ECMA-262, section 21.4.1.1). */
const MAX_TIME = 8.64e15;
