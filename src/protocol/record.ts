import type { Reason } from "../reasons.ts";

/** The record of one decision: the fields of specification 2.8 first, then ours. */
export interface AuditRecord {
  /** Time of the decision: ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly request_id: string;
  /** Empty if nobody was identified. */
  readonly user_id: string;
  /** Canonical path without query, or the sanitized raw path if there is no canonical one. */
  readonly resource: string;
  readonly action: string;
  readonly decision: "ALLOW" | "DENY";
  /** `name@version`. */
  readonly policy_set: string;
  /** Whole milliseconds, rounded down. */
  readonly evaluation_time_ms: number;
  readonly client_ip: string;
  /** Our own id, sortable by time. Response, GraphQL and WebSocket events refer to it. */
  readonly decision_id: string;
  readonly reason: Reason;
  /** Id of the rule that decided, or null. */
  readonly rule: string | null;
  readonly rule_name?: string;
  /** The rule's resource as written in the policy set: `GET /api/customers/{customer_id}`. Dashboards group by it. */
  readonly rule_resource?: string;
  /** sha256 of the set's canonical content, hex. */
  readonly policy_digest: string;
  readonly customer_id?: string;
  /** `name@version`, if one of the customer's own policy sets denied what the gateway's set permits. */
  readonly customer_policy_set?: string;
  readonly host: string;
  /** The path as received, query values redacted, sanitized. */
  readonly raw_path: string;
  readonly evaluation_time_us: number;
  readonly trace_id?: string;
  /** Why a request or token was refused. */
  readonly detail?: string;
  /** With `CONDITION_UNKNOWN` and `CLAIM_OMITTED`: the attributes that made it unknown, and why. No values. */
  readonly unknown?: readonly string[];
  /** Names of checks that would have refused the request and are switched off. */
  readonly accepted_ambiguities?: readonly string[];
  /** At level `debug`: the explanation. */
  readonly trace?: unknown;
}

/** The outcome of a request after it was allowed, in a record of its own. Envoy reports it when the request ends. */
export interface OutcomeRecord {
  /** Time at which the request ended: ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly event: "response" | "connection";
  /** Id of the decision's record; empty if only `request_id` identifies it. */
  readonly decision_id: string;
  /** Present if Envoy did not forward the request. */
  readonly request_id?: string;
  /** 0 if there was no response. */
  readonly response_code: number;
  /** Whole milliseconds, rounded down. */
  readonly duration_ms: number;
  /** The result for a response; for a connection, whether the gateway `closed` it or it `ended` otherwise. */
  readonly result:
    | "masked"
    | "unchanged"
    | "headers_only"
    | "passed"
    | "refused"
    | "unfinished"
    | "not_forwarded"
    | "delivered"
    | "failed"
    | "closed"
    | "ended";
  /** Why a response was refused, or a request not forwarded. */
  readonly reason?: string;
  /** Number of values masked in a response, or of messages changed on a connection. */
  readonly masked_count: number;
  /** Paths of the masked values; never the values. */
  readonly masked_paths: readonly string[];
  /** Number of a stream's documents that were not delivered. */
  readonly documents_dropped?: number;
  readonly response_bytes: number;
  /** Envoy's response flags for a failure of the application: `UF`. */
  readonly response_flags?: string;
  /** The application that received the request, as named in the configuration. */
  readonly upstream?: string;
  /** The status of its response; absent if there was none. */
  readonly upstream_status?: number;
  /** From the first byte sent to it to the last byte received; whole milliseconds, rounded down. */
  readonly upstream_ms?: number;
  /** Messages from the client. */
  readonly sent_delivered?: number;
  readonly sent_dropped?: number;
  /** Messages from the server. */
  readonly received_delivered?: number;
  readonly received_dropped?: number;
  readonly denied_messages?: readonly DeniedMessagesRecord[];
  readonly close_code?: number;
  readonly close_reason?: string;
  readonly closed_by?: string;
  /** Envoy's response code details. */
  readonly detail: string;
}

export interface DeniedMessagesRecord {
  readonly direction: string;
  /** Id of the rule; empty if there is no rule for the type. */
  readonly rule: string;
  readonly type: string;
  readonly count: number;
}

/**
 * Every member that a record can have. Anything else that the control plane read from records would be written by no
 * gateway.
 */
export type RecordMember = keyof AuditRecord | keyof OutcomeRecord;
