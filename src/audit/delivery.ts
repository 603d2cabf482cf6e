import type { RecordsAnswer, RecordRejection } from "../protocol/records.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** A receiver of audit records: the control plane, as this room sees it. */
export interface RecordIntake {
  /** Never rejects. May be called with the same lines again: each is stored once. */
  send(
    lines: readonly string[],
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<IntakeAnswer>;
}

export type IntakeAnswer =
  /** The receiver has stored the lines, except those that are not valid records. */
  | {
      readonly kind: "taken";
      readonly rejected: RecordsAnswer["rejected"];
    }
  /** It rejects all of them because of their content. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** It does not accept any at the moment. */
  | {
      readonly kind: "away";
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs?: number;
    };

export type Away = Extract<IntakeAnswer, { kind: "away" }>;

export interface Delivered {
  /** Number of lines that were delivered or rejected, counted from the first. */
  readonly count: number;
  /** Why the others were not. */
  readonly away?: Away;
}

export interface DeliveryDependencies {
  readonly intake: RecordIntake;
  readonly metrics: Pick<Metrics, "auditRejected" | "auditRejectedForTime" | "auditDeliveryFailures">;
  readonly log: { error(fields: object, message: string): void };
  /** Aborts the delivery. */
  readonly signal: AbortSignal;
  /** Receives each line that was rejected. */
  readonly onRejected: (line: string) => Promise<void>;
}

/** Codes of records that are rejected because of their `timestamp`. */
const OF_TIME: ReadonlySet<string> = new Set<RecordRejection>(["CLOCK_AHEAD", "TOO_OLD"]);

/**
 * Delivers lines. A rejected line is counted and logged and does not block others: if a whole batch is rejected, it is
 * bisected until the lines that cause it are found.
 */
export class RecordDelivery {
  readonly #dependencies: DeliveryDependencies;
  /** Logged once until records are accepted again, because with a wrong clock all of them are rejected. */
  #saidOfTime = false;

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies;
  }

  async deliver(lines: readonly string[], timeoutMs: number): Promise<Delivered> {
    const { intake, metrics, signal } = this.#dependencies;
    const answer = await intake.send(lines, { timeoutMs, signal });
    switch (answer.kind) {
      case "taken":
        for (const { index, code, message } of answer.rejected)
          await this.#reject(lines[index] ?? "", message, code);
        if (answer.rejected.length < lines.length) this.#saidOfTime = false;
        return { count: lines.length };
      case "refused":
        return this.#apart(lines, timeoutMs, `${answer.code}: ${answer.message}`);
      case "away":
        metrics.auditDeliveryFailures.inc();
        return { count: 0, away: answer };
    }
  }

  async #apart(lines: readonly string[], timeoutMs: number, reason: string): Promise<Delivered> {
    const [line] = lines;
    if (line === undefined || lines.length === 1) {
      await this.#reject(line ?? "", reason);
      return { count: lines.length };
    }
    const middle = lines.length >>> 1;
    const first = await this.deliver(lines.slice(0, middle), timeoutMs);
    if (first.away !== undefined) return first;
    const second = await this.deliver(lines.slice(middle), timeoutMs);
    return { ...second, count: middle + second.count };
  }

  async #reject(line: string, reason: string, code?: string): Promise<void> {
    const { metrics, log, onRejected } = this.#dependencies;
    metrics.auditRejected.inc();
    const isOfTime = code !== undefined && OF_TIME.has(code);
    if (isOfTime) metrics.auditRejectedForTime.inc();
    if (!isOfTime || !this.#saidOfTime) {
      const decision = /"decision_id":"([\w-]{1,64})"/.exec(line)?.[1];
      const message = isOfTime
        ? "the control plane rejected an audit record because of its time; check this machine's clock"
        : "the control plane rejected an audit record";
      log.error({ decision_id: decision, reason }, message);
    }
    this.#saidOfTime ||= isOfTime;
    await onRejected(line);
  }
}
