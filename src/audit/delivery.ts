import type { RecordsAnswer, RecordRejection } from "../protocol/records.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** Takes audit records: the control plane, as far as this room knows it. */
export interface RecordIntake {
  /** Never rejects. May be given the same lines again: each is taken once. */
  send(
    lines: readonly string[],
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<IntakeAnswer>;
}

export type IntakeAnswer =
  /** The lines are safe over there, but for those that are no records. */
  | {
      readonly kind: "taken";
      readonly rejected: RecordsAnswer["rejected"];
    }
  /** It takes none of them, for something that is in them. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** It does not take any now. */
  | {
      readonly kind: "away";
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs?: number;
    };

export type Away = Extract<IntakeAnswer, { kind: "away" }>;

export interface Delivered {
  /** Lines that are off our hands, from the first on. */
  readonly count: number;
  /** Why the others are not. */
  readonly away?: Away;
}

export interface DeliveryDependencies {
  readonly intake: RecordIntake;
  readonly metrics: Pick<Metrics, "auditRejected" | "auditRejectedForTime" | "auditDeliveryFailures">;
  readonly log: { error(fields: object, message: string): void };
  /** Gives up when this is aborted. */
  readonly signal: AbortSignal;
  /** Is given each line that was not accepted. */
  readonly onRejected: (line: string) => Promise<void>;
}

/** Codes of records that are refused for their `timestamp`. */
const OF_TIME: ReadonlySet<string> = new Set<RecordRejection>(["CLOCK_AHEAD", "TOO_OLD"]);

/**
 * Hands lines over. A line that is not accepted is counted and logged, and holds nothing up: where a batch is refused
 * as a whole, halves of it are tried, down to the lines that are the cause.
 */
export class RecordDelivery {
  readonly #dependencies: DeliveryDependencies;
  /** Said once, until records are accepted again: with a clock that is off, all of them are refused. */
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
        ? "the control plane does not accept audit records of this time: is this machine's clock right?"
        : "the control plane does not accept an audit record";
      log.error({ decision_id: decision, reason }, message);
    }
    this.#saidOfTime ||= isOfTime;
    await onRejected(line);
  }
}
