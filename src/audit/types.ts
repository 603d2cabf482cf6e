import type { AuditRecord, EventRecord, OutcomeRecord } from "../protocol/record.ts";

export interface AuditLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A record that its decision waits for. */
export interface DurableRecord {
  /** Resolves when the record has been written, with false if that was given up. */
  readonly written: Promise<boolean>;
  /**
   * Reports that the decision was changed: `record` replaces the record. If that has been written, or is being written,
   * `outcome` is written as well.
   */
  revoke(record: () => AuditRecord, outcome: () => OutcomeRecord): void;
}

/** Accepts one record per decision and writes it to its destination. */
export interface AuditLog {
  /**
   * Accepts a record. `build` is called later, or never if the level or the destination makes it unnecessary. Returns false
   * if the record cannot be accepted (queue full, destination failing): the caller denies the request if the audit is
   * required. Every call is eventually counted exactly once, as recorded or dropped.
   *
   * @param required - written even if the level would omit it
   */
  record(decision: AuditRecord["decision"], build: () => AuditRecord, required?: boolean): boolean;
  /**
   * Accepts the record of a decision that takes effect once the record has been written; at every level. The decision is
   * counted as recorded or queued after that, or when the record is revoked.
   *
   * @returns undefined if the record cannot be accepted; it counts as dropped
   */
  recordDurably(build: () => AuditRecord): DurableRecord | undefined;
  /** Whether `record` would be accepted now. */
  accepting(): boolean;
  /** Whether records should contain `trace`. */
  readonly wantsTrace: boolean;
  /** Resolves when every accepted record has been written or counted as dropped. */
  flush(): Promise<void>;
  /** Flushes and releases the destination. */
  close(): Promise<void>;
}

/** Accepts records of requests that the proxy itself refused; they count as decisions. */
export interface RefusalLog {
  /**
   * Accepts the record of a refusal, like {@link AuditLog.record}. Because anyone can cause refusals, their rate and their
   * share of the queue are limited.
   */
  recordRefusal(build: () => AuditRecord): boolean;
}

/** Accepts outcomes and other events, which follow the decisions that they belong to. */
export interface OutcomeLog {
  /**
   * Accepts the record of an outcome, like {@link AuditLog.record}. It is written at levels that record every decision and, if
   * `notable`, also at the level that records only denials.
   *
   * @param notable - something was withheld or cut off
   */
  recordOutcome(notable: boolean, build: () => EventRecord): boolean;
}
