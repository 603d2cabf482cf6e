import type { Metrics } from "../telemetry/metrics.ts";
import type { Destination, WriteError } from "./destination.ts";
import { minimalOutcome, minimalRecord } from "./minimal-record.ts";
import { MAX_LINE, MAX_TRACED_LINE, serializeOutcome, serializeRecord } from "./serialize.ts";
import { RateBudget } from "./rate-budget.ts";
import { Tally, type AuditMetrics } from "./tally.ts";
import type { AuditLog, AuditRecord, OutcomeLog, OutcomeRecord, RefusalLog } from "./types.ts";

export type AuditLevel = "info" | "warn" | "debug";

export interface QueueOptions {
  readonly level: AuditLevel;
  /** Records that may wait, those being written included. */
  readonly queueSize: number;
  /** Bytes that may wait; a record not serialized yet counts as the longest line. */
  readonly queueBytes: number;
  /** How long `close` tries to write what is left, milliseconds. */
  readonly closeTimeout: number;
  /** Records of refusals per second, on average over ten; 200. */
  readonly refusalRate?: number;
}

export interface QueueDependencies {
  readonly destination: Destination;
  readonly metrics: AuditMetrics & Pick<Metrics, "auditBuildFailures">;
  readonly log: AuditLogger;
}

export interface AuditLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A record that is not built yet. */
type Waiting =
  | {
      readonly kind: "decision";
      readonly decision: AuditRecord["decision"];
      readonly build: () => AuditRecord;
    }
  | { readonly kind: "outcome"; readonly build: () => OutcomeRecord };

type Kind = Waiting["kind"];

/** Records are serialized at the latest so long after their decision, so many together ... */
const COLLECT_MS = 10;
const COLLECT_RECORDS = 128;
/** ... and the event loop is given back after so long. */
const SLICE_MS = 2;
/** What is handed to the destination at once. */
const BATCH_BYTES = 256 * 1024;

/**
 * The share of the queue that outcomes may fill: the rest is for decisions, for which a full queue may mean a denial.
 */
const OUTCOME_SHARE = 0.75;
/** The share that refusals may fill: anyone can cause them, and without a token. */
const REFUSAL_SHARE = 0.5;
const REFUSALS_PER_SECOND = 200;

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
const BUSY_RETRY_MS = 20;
const CLOSING_RETRY_MS = 100;

/**
 * A bounded queue in front of a destination. On the request path a record costs one array element; it is built and
 * serialized in batches a little later, whether the destination works or not (so that no request is kept alive by its
 * record), and written in order, one write at a time. What fails is tried again until it is written or the log closes.
 *
 * Every decision is in exactly one of the metrics recorded, dropped and queue, at any moment, and so is every outcome.
 */
export class QueuedAuditLog implements AuditLog, OutcomeLog, RefusalLog {
  readonly wantsTrace: boolean;
  readonly #options: QueueOptions;
  readonly #dependencies: QueueDependencies;
  readonly #maxLine: number;
  readonly #tallies: Readonly<Record<Kind, Tally>>;
  readonly #refusals: RateBudget;
  #waiting: Waiting[] = [];
  /** Serialized, in order; what is being written stays here until it is written. */
  readonly #lines: string[] = [];
  /** What each line is about. */
  readonly #kinds: Kind[] = [];
  #bytes = 0;
  /** Records taken, and records written or given up, since the start. */
  #taken = 0;
  #settled = 0;
  #collecting: NodeJS.Timeout | undefined;
  #slicing: NodeJS.Immediate | undefined;
  #writing = false;
  #state: "open" | "closing" | "closed" = "open";
  #failing: string | undefined;
  #wake: (() => void) | undefined;
  #closed: Promise<void> | undefined;
  readonly #flushes: { readonly until: number; readonly resolve: () => void }[] = [];

  constructor(options: QueueOptions, dependencies: QueueDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.wantsTrace = options.level === "debug";
    this.#maxLine = this.wantsTrace ? MAX_TRACED_LINE : MAX_LINE;
    this.#refusals = new RateBudget(options.refusalRate ?? REFUSALS_PER_SECOND);
    const { metrics } = dependencies;
    this.#tallies = { decision: Tally.ofDecisions(metrics), outcome: Tally.ofOutcomes(metrics) };
  }

  record(decision: AuditRecord["decision"], build: () => AuditRecord, required = false): boolean {
    if (this.#options.level === "warn" && decision === "ALLOW" && !required) {
      this.#tallies.decision.refuse("level");
      return true;
    }
    return this.#take({ kind: "decision", decision, build }, this.accepting());
  }

  recordOutcome(notable: boolean, build: () => OutcomeRecord): boolean {
    if (this.#options.level === "warn" && !notable) {
      this.#tallies.outcome.refuse("level");
      return true;
    }
    return this.#take({ kind: "outcome", build }, this.#hasRoom(OUTCOME_SHARE));
  }

  recordRefusal(build: () => AuditRecord): boolean {
    const hasRoom = this.#hasRoom(REFUSAL_SHARE);
    if (hasRoom && !this.#refusals.take()) {
      this.#tallies.decision.refuse("rate");
      return false;
    }
    return this.#take({ kind: "decision", decision: "DENY", build }, hasRoom);
  }

  accepting(): boolean {
    return this.#hasRoom(1);
  }

  /** Whether one more fits into this share of the queue. */
  #hasRoom(share: number): boolean {
    const { queueSize, queueBytes } = this.#options;
    return (
      this.#state === "open" &&
      this.#taken - this.#settled < queueSize * share &&
      this.#bytes + this.#maxLine <= queueBytes * share
    );
  }

  #take(waiting: Waiting, hasRoom: boolean): boolean {
    const tally = this.#tallies[waiting.kind];
    if (!hasRoom) {
      tally.refuse(this.#state === "open" ? "queue_full" : "write_failed");
      return false;
    }
    this.#waiting.push(waiting);
    this.#taken++;
    this.#bytes += this.#maxLine;
    tally.take();
    if (this.#waiting.length >= COLLECT_RECORDS) this.#slicing ??= setImmediate(this.#serialize);
    else this.#collecting ??= setTimeout(this.#serialize, COLLECT_MS);
    return true;
  }

  flush(): Promise<void> {
    const until = this.#taken;
    if (this.#settled >= until) return Promise.resolve();
    this.#serialize();
    return new Promise((resolve) => this.#flushes.push({ until, resolve }));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#state = "closing";
    this.#wake?.();
    const inTime = await within(this.#options.closeTimeout, this.flush());
    this.#state = "closed";
    this.#wake?.();
    this.#giveUp();
    const released = this.#dependencies.destination.close();
    // where a write hangs, releasing may hang too
    if (inTime) await released;
  }

  #giveUp(): void {
    const left = this.#taken - this.#settled;
    clearTimeout(this.#collecting);
    clearImmediate(this.#slicing);
    const lost = [...this.#kinds, ...this.#waiting.map(({ kind }) => kind)];
    this.#waiting = [];
    this.#lines.length = 0;
    this.#kinds.length = 0;
    this.#bytes = 0;
    if (left === 0) return;
    for (const kind of lost) this.#tallies[kind].lost(1);
    this.#settle(left);
    this.#dependencies.log.error(
      { records: left },
      "audit records were lost: they could not be written before the end",
    );
  }

  /** Turns what waits into lines, for a slice of time, and has them written. */
  readonly #serialize = (): void => {
    clearTimeout(this.#collecting);
    clearImmediate(this.#slicing);
    this.#collecting = undefined;
    this.#slicing = undefined;
    const end = performance.now() + SLICE_MS;
    let done = 0;
    for (const waiting of this.#waiting) {
      const line = this.#line(waiting);
      this.#lines.push(line);
      this.#kinds.push(waiting.kind);
      this.#bytes += line.length - this.#maxLine;
      if (++done % 16 === 0 && performance.now() >= end) break;
    }
    this.#waiting = this.#waiting.slice(done);
    if (this.#waiting.length > 0) this.#slicing = setImmediate(this.#serialize);
    if (!this.#writing) void this.#write();
  };

  /** A record that cannot be built is written all the same, with what is known of it. */
  #line(waiting: Waiting): string {
    try {
      return waiting.kind === "decision"
        ? serializeRecord(waiting.build(), this.wantsTrace)
        : serializeOutcome(waiting.build());
    } catch (error) {
      this.#dependencies.metrics.auditBuildFailures.inc();
      this.#dependencies.log.error({ err: error }, "an audit record could not be built");
      return waiting.kind === "decision"
        ? serializeRecord(minimalRecord(waiting.decision, error), false)
        : serializeOutcome(minimalOutcome(error));
    }
  }

  /** Writes until nothing is left to write. There is one of it at a time, and `write` of the destination never rejects. */
  async #write(): Promise<void> {
    this.#writing = true;
    let delay = 0;
    let turn = performance.now();
    while (this.#lines.length > 0) {
      const { written, error } = await this.#dependencies.destination.write(this.#batch());
      // given up meanwhile: what was being written has been counted as lost
      if (this.#isClosed()) break;
      this.#countWritten(written);
      this.#bytes -= this.#lines.splice(0, written).reduce((bytes, line) => bytes + line.length, 0);
      this.#settle(written);
      this.#report(error, written);
      if (error !== undefined) {
        delay = this.#nextDelay(written > 0 ? 0 : delay, error);
        await this.#pause(delay);
      } else {
        delay = 0;
        if (performance.now() - turn > SLICE_MS) {
          await new Promise((resolve) => setImmediate(resolve));
          turn = performance.now();
        }
      }
    }
    this.#writing = false;
  }

  #countWritten(written: number): void {
    const kinds = this.#kinds.splice(0, written);
    const outcomes = kinds.reduce((count, kind) => count + (kind === "outcome" ? 1 : 0), 0);
    this.#tallies.outcome.written(outcomes);
    this.#tallies.decision.written(kinds.length - outcomes);
  }

  #isClosed(): boolean {
    return this.#state === "closed";
  }

  #batch(): readonly string[] {
    let bytes = 0;
    let count = 0;
    for (const line of this.#lines) {
      bytes += line.length;
      if (count > 0 && bytes > BATCH_BYTES) break;
      count++;
    }
    return this.#lines.slice(0, count);
  }

  #nextDelay(last: number, error: WriteError): number {
    const [first, longest] = error.busy ? [1, BUSY_RETRY_MS] : [FIRST_RETRY_MS, LAST_RETRY_MS];
    const delay = Math.min(longest, Math.max(first, last * 2));
    return this.#state === "open" ? delay : Math.min(delay, CLOSING_RETRY_MS);
  }

  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delay);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Says once that writing fails, and once that it works again. */
  #report(error: WriteError | undefined, written: number): void {
    const { log } = this.#dependencies;
    if (error !== undefined && !error.busy && this.#failing !== error.code) {
      this.#failing = error.code;
      log.error({ code: error.code, reason: error.message }, "audit records cannot be written, trying again");
    } else if (written > 0 && error === undefined && this.#failing !== undefined) {
      this.#failing = undefined;
      log.info({ queued: this.#taken - this.#settled }, "audit records are being written again");
    }
  }

  #settle(count: number): void {
    this.#settled += count;
    while (this.#flushes[0] !== undefined && this.#flushes[0].until <= this.#settled) {
      this.#flushes.shift()?.resolve();
    }
  }
}

/** Whether `promise` resolved within `ms`. */
async function within(ms: number, promise: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
