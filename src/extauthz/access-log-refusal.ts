import type { RefusalLog } from "../audit/types.ts";
import type { AuditRecord } from "../protocol/record.ts";
import type { Snapshot } from "../decision/policies/snapshot.ts";
import type { ProxyReason } from "../reasons.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { redactTarget } from "../text/index.ts";
import type { RequestOutcome } from "./access-log.ts";
import type { UndecidedEntry } from "./access-log-decode.ts";

export interface RefusalDependencies {
  readonly audit: RefusalLog;
  readonly metrics: Pick<Metrics, "decisions">;
  readonly snapshot: () => Pick<Snapshot, "label" | "digest"> | undefined;
  readonly nextDecisionId: () => string;
  /** The client's address, from the peer address and the values of X-Real-IP. */
  readonly clientIp: (entry: UndecidedEntry) => string;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** @returns the handler of requests that Envoy itself refused, which counts and records them as denials. */
export function createRefusalHandler(dependencies: RefusalDependencies): (entry: UndecidedEntry) => void {
  const { audit, metrics } = dependencies;
  const clock = dependencies.clock ?? Date.now;
  return (entry) => {
    const reason = refusalReason(entry);
    const now = clock();
    metrics.decisions.inc({ decision: "DENY", reason });
    audit.recordRefusal(() => refusalRecord(entry, reason, now, dependencies));
  };
}

function refusalRecord(
  entry: UndecidedEntry,
  reason: ProxyReason,
  now: number,
  { snapshot, nextDecisionId, clientIp }: RefusalDependencies,
): AuditRecord {
  const { startedAt, details, request } = entry;
  const inForce = snapshot();
  const rawPath = redactTarget(request.target);
  return {
    timestamp: new Date(startedAt ?? now).toISOString(),
    request_id: request.id,
    user_id: "",
    resource: rawPath.split(/[?#]/, 1)[0] ?? "",
    action: request.method,
    decision: "DENY",
    policy_set: inForce?.label ?? "",
    evaluation_time_ms: 0,
    client_ip: clientIp(entry),
    decision_id: nextDecisionId(),
    reason,
    rule: null,
    policy_digest: inForce?.digest ?? "",
    host: request.host,
    raw_path: rawPath,
    evaluation_time_us: 0,
    detail: details,
  };
}

/** Reasons for which a request can end while a worker decides. */
const DURING_CHECK: ReadonlySet<ProxyReason> = new Set([
  "CLIENT_GONE",
  "DECISION_UNAVAILABLE",
  "MALFORMED_REQUEST",
  "REFUSED_BY_PROXY",
  "REQUEST_TIMEOUT",
  "REQUEST_TOO_LARGE",
]);

/** Whether a worker may have decided it, although Envoy did not wait for the answer. */
export function mayBeDecided(entry: UndecidedEntry): boolean {
  return entry.request.id !== "" && DURING_CHECK.has(refusalReason(entry));
}

/** The outcome of a request that a worker decided, but too late. */
export function notForwarded(entry: UndecidedEntry, now: number = Date.now()): RequestOutcome {
  const { startedAt, endedAfter = 0, request, responseCode, details } = entry;
  return {
    event: "response",
    response: {
      result: "not_forwarded",
      reason: refusalReason(entry),
      ...{ paths: [], count: 0, dropped: 0 },
    },
    decisionId: "",
    requestId: request.id,
    handshake: false,
    at: startedAt === undefined ? now : startedAt + endedAfter,
    durationMs: endedAfter,
    responseCode,
    responseBytes: 0,
    details,
  };
}

/** By Envoy's `response_code_details`. */
const BY_DETAILS: Readonly<Record<string, ProxyReason>> = {
  path_normalization_failed: "PATH_REFUSED",
  absolute_path_rejected: "PATH_REFUSED",
  missing_path_rejected: "PATH_REFUSED",
  "http1.headers_too_large": "HEADERS_TOO_LARGE",
  request_headers_too_large: "HEADERS_TOO_LARGE",
  "http1.too_many_headers": "TOO_MANY_HEADERS",
  "http2.too_many_headers": "TOO_MANY_HEADERS",
  "http2.header_list_size_too_large": "HEADERS_TOO_LARGE",
  "rbac_access_denied_matched_policy[request_too_large]": "REQUEST_TOO_LARGE",
  "rbac_access_denied_matched_policy[too_many_uploads]": "OVERLOADED",
  request_payload_too_large: "REQUEST_TOO_LARGE",
  local_rate_limited: "RATE_LIMITED",
  low_version: "UPGRADE_REQUIRED",
  upgrade_failed: "UPGRADE_NOT_SUPPORTED",
  request_header_timeout: "REQUEST_TIMEOUT",
  request_overall_timeout: "REQUEST_TIMEOUT",
  stream_idle_timeout: "REQUEST_TIMEOUT",
  route_not_found: "ROUTE_NOT_FOUND",
  overload: "OVERLOADED",
  missing_host_header: "MALFORMED_REQUEST",
  query_missing_content_type: "MALFORMED_REQUEST",
};

const BY_STATUS: Readonly<Record<number, ProxyReason>> = {
  404: "ROUTE_NOT_FOUND",
  408: "REQUEST_TIMEOUT",
  413: "REQUEST_TOO_LARGE",
  426: "UPGRADE_REQUIRED",
  429: "RATE_LIMITED",
  431: "HEADERS_TOO_LARGE",
};

/** Details from Envoy's codecs say that the bytes are malformed ... */
const CODEC = /^http[123]?\./;
/** ... except these. */
const RESET = /^http[23]\.remote_/;

/** Why Envoy refused: decided by its details, then its flags about the connection, then its status. */
export function refusalReason({
  details,
  flags,
  responseCode,
  checkBegan = true,
}: Pick<UndecidedEntry, "details" | "flags" | "responseCode"> &
  Partial<Pick<UndecidedEntry, "checkBegan">>): ProxyReason {
  if (details === "ext_authz_error") return checkBegan ? "DECISION_UNAVAILABLE" : "OVERLOADED";
  if (Object.hasOwn(BY_DETAILS, details)) return BY_DETAILS[details] ?? "REFUSED_BY_PROXY";
  if (flags.overloaded === true) return "OVERLOADED";
  if (flags.malformed === true) return "MALFORMED_REQUEST";
  if (CODEC.test(details) && !RESET.test(details)) return "MALFORMED_REQUEST";
  if (flags.clientGone === true) return "CLIENT_GONE";
  return BY_STATUS[responseCode] ?? "REFUSED_BY_PROXY";
}
