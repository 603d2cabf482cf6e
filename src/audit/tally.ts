import type { Metrics } from "../telemetry/metrics.ts";

/** Why a record was not written. */
export type DropCause = "level" | "queue_full" | "write_failed" | "rate";

/** What {@link AuditTally} counts with. */
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

/** Where the records of one kind are: each is in exactly one of the metrics recorded, dropped and queue, at any moment. */
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

  /** One record is not taken. */
  refuse(cause: DropCause): void {
    this.#dropped[cause].inc(1);
  }

  /** One record is taken. */
  take(): void {
    this.#queue.inc();
  }

  /** Records that never counted as taken are written. */
  writtenAtOnce(count: number): void {
    this.#recorded.inc(count);
  }

  /** Records taken are written ... */
  written(count: number): void {
    this.#recorded.inc(count);
    this.#queue.dec(count);
  }

  /** ... or given up. */
  lost(count: number): void {
    this.#dropped.write_failed.inc(count);
    this.#queue.dec(count);
  }
}
