import type { Reason } from "../reasons.ts";

/** One decision, as it is written: the fields of specification 2.8 first, then ours. */
export interface AuditRecord {
  /** ISO 8601 UTC with milliseconds: when the decision was made. */
  readonly timestamp: string;
  readonly request_id: string;
  /** Empty when nobody was identified. */
  readonly user_id: string;
  /** Canonical path without query, or the sanitized raw path when there is no canonical one. */
  readonly resource: string;
  readonly action: string;
  readonly decision: "ALLOW" | "DENY";
  /** `name@version`. */
  readonly policy_set: string;
  /** Whole milliseconds, rounded down. */
  readonly evaluation_time_ms: number;
  readonly client_ip: string;
  /** Ours, sortable by time: what response, GraphQL and WebSocket events refer to. */
  readonly decision_id: string;
  readonly reason: Reason;
  /** Id of the rule that decided, or null. */
  readonly rule: string | null;
  readonly rule_name?: string;
  /** What the rule guards, as the policy set writes it: `GET /api/customers/{customer_id}`. Dashboards group by it. */
  readonly rule_resource?: string;
  /** sha256 of the set's canonical content, hex. */
  readonly policy_digest: string;
  readonly customer_id?: string;
  /** `name@version`, where a policy set of the customer's own denied what the gateway's permits. */
  readonly customer_policy_set?: string;
  readonly host: string;
  /** The path as received, query values redacted, sanitized. */
  readonly raw_path: string;
  readonly evaluation_time_us: number;
  readonly trace_id?: string;
  /** What a refused request or token failed on. */
  readonly detail?: string;
  /** With `CONDITION_UNKNOWN`: the attributes that could not be decided by, and why. No values. */
  readonly unknown?: readonly string[];
  /** Names of checks that would have refused the request and are switched off. */
  readonly accepted_ambiguities?: readonly string[];
  /** At level `debug`: the explanation. */
  readonly trace?: unknown;
}

/** What became of a request after it was allowed, in a record of its own: Envoy tells it when the request is over. */
export interface OutcomeRecord {
  /** ISO 8601 UTC with milliseconds: when the request was over. */
  readonly timestamp: string;
  readonly event: "response" | "connection";
  /** Of the decision's record; empty where only `request_id` says which one it is. */
  readonly decision_id: string;
  /** Where Envoy did not send the request on. */
  readonly request_id?: string;
  /** 0 where nothing was answered. */
  readonly response_code: number;
  /** Whole milliseconds, rounded down. */
  readonly duration_ms: number;
  /** Of an answer; of a connection, whether the gateway `closed` it or it `ended` otherwise. */
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
  /** Why an answer was refused, or a request not let through. */
  readonly reason?: string;
  /** Values changed in an answer, messages changed on a connection. */
  readonly masked_count: number;
  /** Where values were changed; never the values. */
  readonly masked_paths: readonly string[];
  /** Documents of a stream that were not delivered. */
  readonly documents_dropped?: number;
  readonly response_bytes: number;
  /** Envoy's flags for what went wrong with the application: `UF`. */
  readonly response_flags?: string;
  /** The application that was asked, as the configuration has it. */
  readonly upstream?: string;
  /** What it answered; absent where it did not. */
  readonly upstream_status?: number;
  /** From the first byte sent to it to the last byte received; whole milliseconds, rounded down. */
  readonly upstream_ms?: number;
  /** Messages of the client ... */
  readonly sent_delivered?: number;
  readonly sent_dropped?: number;
  /** ... and of the server. */
  readonly received_delivered?: number;
  readonly received_dropped?: number;
  readonly denied_messages?: readonly DeniedMessagesRecord[];
  readonly close_code?: number;
  readonly close_reason?: string;
  readonly closed_by?: string;
  /** Envoy's own word for how the answer came about. */
  readonly detail: string;
}

export interface DeniedMessagesRecord {
  readonly direction: string;
  /** Id of the rule; empty where none names the type. */
  readonly rule: string;
  readonly type: string;
  readonly count: number;
}

/** Every member that a record can have. What the control plane reads of records is one of these, or no gateway writes it. */
export type RecordMember = keyof AuditRecord | keyof OutcomeRecord;
