import type { AuditRecord, OutcomeRecord } from "../protocol/record.ts";

/** The record of a decision whose full record could not be built. */
export function minimalRecord(decision: AuditRecord["decision"], error: unknown): AuditRecord {
  return {
    timestamp: new Date().toISOString(),
    request_id: "",
    user_id: "",
    resource: "",
    action: "",
    decision,
    policy_set: "",
    evaluation_time_ms: 0,
    client_ip: "",
    decision_id: "",
    reason: "INTERNAL_ERROR",
    rule: null,
    policy_digest: "",
    host: "",
    raw_path: "",
    evaluation_time_us: 0,
    detail: causeOf(error),
  };
}

/** The record of an outcome whose full record could not be built. */
export function minimalOutcome(error: unknown): OutcomeRecord {
  return {
    timestamp: new Date().toISOString(),
    event: "response",
    decision_id: "",
    response_code: 0,
    duration_ms: 0,
    result: "unfinished",
    masked_count: 0,
    masked_paths: [],
    response_bytes: 0,
    detail: causeOf(error),
  };
}

function causeOf(error: unknown): string {
  return `the record could not be built: ${error instanceof Error ? error.message : "error"}`;
}
