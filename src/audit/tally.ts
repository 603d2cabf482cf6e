import type { Metrics } from "../telemetry/metrics.ts";

/** Why a record was not written. */
export type DropCause = "level" | "queue_full" | "write_failed" | "rate";

/** The metrics of an {@link AuditTally}. */
export type AuditMetrics = Pick<
  Metrics,
  | "auditRecorded"
  | "auditDropped"
  | "auditQueue"
  | "auditOutcomesRecorded"
  | "auditOutcomesDropped"
  | "auditOutcomesQueue"
>;

interface Series {
  readonly recorded: { inc(count: number): void };
  readonly dropped: { labels(cause: DropCause): { inc(count: number): void } };
  readonly queue: { inc(): void; dec(count: number): void };
}

/** Counts the records of one kind: at any moment each is in exactly one of the metrics recorded, dropped and queue. */
export class AuditTally {
  readonly #recorded: Series["recorded"];
  readonly #queue: Series["queue"];
  readonly #dropped: Readonly<Record<DropCause, { inc(count: number): void }>>;

  private constructor({ recorded, dropped, queue }: Series) {
    this.#recorded = recorded;
    this.#queue = queue;
    this.#dropped = {
      level: dropped.labels("level"),
      queue_full: dropped.labels("queue_full"),
      write_failed: dropped.labels("write_failed"),
      rate: dropped.labels("rate"),
    };
  }

  static ofDecisions({ auditRecorded, auditDropped, auditQueue }: AuditMetrics): AuditTally {
    return new AuditTally({ recorded: auditRecorded, dropped: auditDropped, queue: auditQueue });
  }

  static ofOutcomes(metrics: AuditMetrics): AuditTally {
    const { auditOutcomesRecorded, auditOutcomesDropped, auditOutcomesQueue } = metrics;
    return new AuditTally({
      recorded: auditOutcomesRecorded,
      dropped: auditOutcomesDropped,
      queue: auditOutcomesQueue,
    });
  }

  /** One record was not accepted. */
  refuse(cause: DropCause): void {
    this.#dropped[cause].inc(1);
  }

  /** One record was accepted. */
  take(): void {
    this.#queue.inc();
  }

  /** Records were written that had not been counted as accepted. */
  writtenAtOnce(count: number): void {
    this.#recorded.inc(count);
  }

  /** Accepted records were written ... */
  written(count: number): void {
    this.#recorded.inc(count);
    this.#queue.dec(count);
  }

  /** ... or lost. */
  lost(count: number): void {
    this.#dropped.write_failed.inc(count);
    this.#queue.dec(count);
  }
}
