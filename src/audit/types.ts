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

export interface AuditLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A record that its decision waits for. */
export interface DurableRecord {
  /** Resolves when the record is written, or with false when that was given up. */
  readonly written: Promise<boolean>;
  /**
   * Says that the decision was made otherwise: `record` takes the record's place. Where that is out already, or being
   * written, `outcome` is written beside it.
   */
  revoke(record: () => AuditRecord, outcome: () => OutcomeRecord): void;
}

/** Takes one record a decision and brings it to its destination. */
export interface AuditLog {
  /**
   * Accepts a record. `build` is called later, or never when the level or the destination makes it needless.
   * Returns false when the record cannot be taken (queue full, destination failing): the caller denies where
   * the audit is required. Every call counts exactly once as recorded or dropped, sooner or later.
   *
   * @param required - written also where the level would leave it out
   */
  record(decision: AuditRecord["decision"], build: () => AuditRecord, required?: boolean): boolean;
  /**
   * Accepts the record of a decision that is made once the record is written; at every level. The decision counts as
   * recorded or queued when that has happened, or when the record is revoked.
   *
   * @returns undefined when the record cannot be taken; it counts as dropped
   */
  recordDurably(build: () => AuditRecord): DurableRecord | undefined;
  /** Whether `record` would be accepted now. */
  accepting(): boolean;
  /** True when records should carry `trace`. */
  readonly wantsTrace: boolean;
  /** Resolves when all that was accepted is written or counted as dropped. */
  flush(): Promise<void>;
  /** Flushes and releases the destination. */
  close(): Promise<void>;
}

/** Takes records of requests that the proxy refused by itself; they count as decisions. */
export interface RefusalLog {
  /**
   * Accepts the record of a refusal, like {@link AuditLog.record}. Anyone can cause them, so they are bounded in
   * their rate and in their share of the queue.
   */
  recordRefusal(build: () => AuditRecord): boolean;
}

/** Takes outcomes, behind the decisions that they belong to. */
export interface OutcomeLog {
  /**
   * Accepts the record of an outcome, like {@link AuditLog.record}. It is written where every decision is, and, when
   * `notable`, where only denials are.
   *
   * @param notable - something was kept back or cut off
   */
  recordOutcome(notable: boolean, build: () => OutcomeRecord): boolean;
}
