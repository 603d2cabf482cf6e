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

/** What became of a request that was allowed, as only Envoy knows it. */
export type RequestOutcome = NotedOutcome & {
  /** Empty where it had no plan. */
  readonly decisionId: string;
  /** Where it was not sent on. */
  readonly requestId?: string;
  /** It was a WebSocket handshake that was let in: the connection, if there ever was one, is over. */
  readonly handshake: boolean;
  /** Unix ms: when the request was over. */
  readonly at: number;
  readonly durationMs: number;
  /** 0 where nothing was answered. */
  readonly responseCode: number;
  readonly responseBytes: number;
  /** Envoy's own word for how the answer came about. */
  readonly details: string;
  /** Envoy's flags for what went wrong with the application. */
  readonly failures?: readonly string[];
  /** The application, where one was chosen. */
  readonly upstream?: string;
  /** What it answered, where it did. */
  readonly upstreamStatus?: number;
  readonly upstreamMs?: number;
};

export interface AccessLogDependencies {
  readonly onOutcome: (outcome: RequestOutcome) => void;
  /** Is given each request that was over without a decision of ours, and was not sent on. */
  readonly onRefusal: (entry: UndecidedEntry) => void;
  /** Is given, from time to time, the decision by which a connection was let in that is open. */
  readonly onOpen?: (decisionId: string) => void;
  readonly metrics: Pick<Metrics, "accessLogSkipped" | "upstreamFailures">;
  /** Applications by the names of their clusters. */
  readonly upstreams?: ReadonlyMap<string, string>;
  /** Every allowed request has an outcome, also one without a plan. Default: false. */
  readonly everyRequest?: boolean;
  readonly log: { error(object: object, message: string): void };
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Takes the bytes of one StreamAccessLogsMessage. Never throws. */
export type AccessLogHandler = (bytes: Buffer) => void;

/**
 * Envoy's access log. Requests with a plan become outcomes; where of one at least the decision can be read there is an
 * outcome all the same, `unfinished`, so that nothing that was planned is over without a word. Requests that were allowed and
 * came to nothing in Envoy have one, too, `not_forwarded`. Requests that Envoy refused before there was a decision are handed on. What cannot be read is counted.
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
      log.error({ err: error, decision_id: entry.decisionId }, "an outcome was lost");
    }
  };
  const passOver = (cause: string) => {
    metrics.accessLogSkipped.inc({ cause });
  };
  const undecided = (entry: UndecidedEntry): void => {
    if (entry.forwarded) {
      passOver("undecided");
      log.error({ request_id: entry.request.id }, "the proxy has forwarded a request without a decision");
      return;
    }
    try {
      onRefusal(entry);
    } catch (error) {
      log.error({ err: error, request_id: entry.request.id }, "the record of a refusal was lost");
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

/** What Lua noted, or what it means that it noted nothing; what it makes of an answer of Envoy's own does not count. */
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

/** The application failed before it answered: what was delivered, and Lua has perhaps looked at, is Envoy's. */
function isEnvoysAnswer({ flags, handshake, details }: AccessLogEntry): boolean {
  return flags.upstream !== undefined && !handshake && !ANSWERED.test(details);
}

/** Envoy's words where the application has begun to answer. */
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
  // an answer is over with its last byte, a connection when its stream is
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

/** The last moment that has a date (ECMA-262, section 21.4.1.1). */
const MAX_TIME = 8.64e15;
