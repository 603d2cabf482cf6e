import type { AuditRecord, OutcomeRecord } from "../protocol/record.ts";

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
