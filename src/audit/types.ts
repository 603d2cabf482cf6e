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
  /** sha256 of the set's canonical content, hex. */
  readonly policy_digest: string;
  readonly customer_id?: string;
  readonly host: string;
  /** The path as received, query values redacted, sanitized. */
  readonly raw_path: string;
  readonly evaluation_time_us: number;
  readonly trace_id?: string;
  /** What a refused request or token failed on. */
  readonly detail?: string;
  /** Names of checks that would have refused the request and are switched off. */
  readonly accepted_ambiguities?: readonly string[];
  /** At level `debug`: the explanation. */
  readonly trace?: unknown;
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
  /** Whether `record` would be accepted now. */
  accepting(): boolean;
  /** True when records should carry `trace`. */
  readonly wantsTrace: boolean;
  /** Resolves when all that was accepted is written or counted as dropped. */
  flush(): Promise<void>;
  /** Flushes and releases the destination. */
  close(): Promise<void>;
}
