import { inTime } from "../runtime/in-time.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Destination } from "./destination.ts";
import { Durable } from "./durable.ts";
import { minimalOutcome, minimalRecord } from "./minimal-record.ts";
import { Retry } from "./retry.ts";
import { MAX_LINE, MAX_TRACED_LINE, serializeOutcome, serializeRecord } from "./serialize.ts";
import { RateBudget } from "../runtime/rate-budget.ts";
import { AuditTally, type AuditMetrics } from "./tally.ts";
import type { AuditLog, AuditLogger, DurableRecord, OutcomeLog, RefusalLog } from "./types.ts";
import type { AuditRecord, EventRecord } from "../protocol/record.ts";

export type AuditLevel = "info" | "warn" | "debug";

export interface QueueOptions {
  readonly level: AuditLevel;
  /** Maximum number of waiting records, including those being written. */
  readonly queueSize: number;
  /** Maximum size of waiting records, in bytes; one that is not serialized yet counts as the longest line. */
  readonly queueBytes: number;
  /** How long `close` tries to write the remaining records, in milliseconds. */
  readonly closeTimeout: number;
  /** Records of refusals per second, averaged over ten seconds. Default: 200. */
  readonly refusalRate?: number;
}

export interface QueueDependencies {
  readonly destination: Destination;
  readonly metrics: AuditMetrics & Pick<Metrics, "auditBuildFailures" | "outcomes">;
  readonly log: AuditLogger;
}

/** A record that is not built yet. */
type Waiting =
  | {
      readonly kind: "decision";
      readonly decision: AuditRecord["decision"];
      readonly build: () => AuditRecord;
      /** Set if the decision waits for it. */
      readonly durable?: Durable;
    }
  | { readonly kind: "outcome"; readonly build: () => EventRecord };

type Kind = Waiting["kind"];

/** A record that is built. */
interface Line {
  readonly kind: Kind;
  text: string;
  readonly durable: Durable | undefined;
}

/** Records are serialized at most this long after their decision, this many at a time ... */
const COLLECT_MS = 10;
const COLLECT_RECORDS = 128;
/** ... and the event loop is yielded after this long. */
const SLICE_MS = 2;
/** Maximum batch size for the destination. */
const BATCH_BYTES = 256 * 1024;

/**
 * The share of the queue that outcomes may fill: the rest is for decisions, which may be denied if the queue is full.
 */
const OUTCOME_SHARE = 0.75;
/** The share that refusals may fill, because anyone can cause them without a token. */
const REFUSAL_SHARE = 0.5;
const REFUSALS_PER_SECOND = 200;

/**
 * A bounded queue in front of a destination. On the request path a record costs one array element. It is built and
 * serialized in batches a little later, even if the destination fails (so that no record keeps its request in memory), and
 * written in order, one write at a time. Failed writes are retried until they succeed or the log is closed.
 *
 * At any moment every decision is in exactly one of the metrics recorded, dropped and queue, and so is every outcome.
 */
export class QueuedAuditLog implements AuditLog, OutcomeLog, RefusalLog {
  readonly wantsTrace: boolean;
  readonly #options: QueueOptions;
  readonly #dependencies: QueueDependencies;
  readonly #maxLine: number;
  readonly #tallies: Readonly<Record<Kind, AuditTally>>;
  readonly #refusals: RateBudget;
  #waiting: Waiting[] = [];
  /** Serialized lines, in order; a line stays here until it has been written. */
  readonly #lines: Line[] = [];
  #bytes = 0;
  /** Records accepted, and records written or given up, since the start. */
  #taken = 0;
  #settled = 0;
  #collecting: NodeJS.Timeout | undefined;
  #slicing: NodeJS.Immediate | undefined;
  #writing = false;
  #state: "open" | "closing" | "closed" = "open";
  readonly #retry: Retry;
  #closed: Promise<void> | undefined;
  readonly #flushes: { readonly until: number; readonly resolve: () => void }[] = [];

  constructor(options: QueueOptions, dependencies: QueueDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.wantsTrace = options.level === "debug";
    this.#maxLine = this.wantsTrace ? MAX_TRACED_LINE : MAX_LINE;
    this.#refusals = new RateBudget({ perSecond: options.refusalRate ?? REFUSALS_PER_SECOND });
    const { metrics } = dependencies;
    this.#retry = new Retry(dependencies.log);
    this.#tallies = { decision: AuditTally.ofDecisions(metrics), outcome: AuditTally.ofOutcomes(metrics) };
  }

  record(decision: AuditRecord["decision"], build: () => AuditRecord, required = false): boolean {
    if (this.#options.level === "warn" && decision === "ALLOW" && !required) {
      this.#tallies.decision.refuse("level");
      return true;
    }
    return this.#take({ kind: "decision", decision, build }, this.accepting());
  }

  recordOutcome(notable: boolean, build: () => EventRecord): boolean {
    if (this.#options.level === "warn" && !notable) {
      this.#tallies.outcome.refuse("level");
      return true;
    }
    return this.#take({ kind: "outcome", build }, this.#hasRoom(OUTCOME_SHARE));
  }

  recordDurably(build: () => AuditRecord): DurableRecord | undefined {
    const tally = this.#tallies.decision;
    if (!this.accepting()) {
      tally.refuse(this.#refusal());
      return undefined;
    }
    const durable: Durable = new Durable({
      revoked: () => {
        tally.take();
      },
      contradicted: (outcome) => {
        this.#dependencies.metrics.outcomes.inc({ event: "response" });
        this.recordOutcome(true, outcome);
      },
    });
    this.#push({ kind: "decision", decision: "ALLOW", build, durable });
    // at once; records that arrive during a write form the next batch
    this.#slicing ??= setImmediate(this.#serialize);
    return durable;
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

  /** Whether one more record fits into this share of the queue. */
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
      tally.refuse(this.#refusal());
      return false;
    }
    this.#push(waiting);
    tally.take();
    if (this.#waiting.length >= COLLECT_RECORDS) this.#slicing ??= setImmediate(this.#serialize);
    else this.#collecting ??= setTimeout(this.#serialize, COLLECT_MS);
    return true;
  }

  #push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#taken++;
    this.#bytes += this.#maxLine;
  }

  #refusal(): "queue_full" | "write_failed" {
    return this.#state === "open" ? "queue_full" : "write_failed";
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
    this.#retry.wake();
    const flushed = this.flush().then(() => true);
    const isFlushed = await inTime(flushed, this.#options.closeTimeout, false);
    this.#state = "closed";
    this.#retry.wake();
    this.#giveUp();
    const released = this.#dependencies.destination.close();
    // if a write hangs, releasing may hang, too
    if (isFlushed) await released;
  }

  #giveUp(): void {
    const left = this.#taken - this.#settled;
    clearTimeout(this.#collecting);
    clearImmediate(this.#slicing);
    const lost = [...this.#lines, ...this.#waiting];
    this.#waiting = [];
    this.#lines.length = 0;
    this.#bytes = 0;
    if (left === 0) return;
    for (const entry of lost) {
      const durable = "durable" in entry ? entry.durable : undefined;
      if (durable === undefined || durable.isRevoked) this.#tallies[entry.kind].lost(1);
      else this.#tallies.decision.refuse("write_failed");
      durable?.settled(false);
    }
    this.#settle(left);
    this.#dependencies.log.error(
      { records: left },
      "audit records lost: could not write them before shutdown",
    );
  }

  /** Serializes waiting records for one time slice and starts writing them. */
  readonly #serialize = (): void => {
    clearTimeout(this.#collecting);
    clearImmediate(this.#slicing);
    this.#collecting = undefined;
    this.#slicing = undefined;
    const end = performance.now() + SLICE_MS;
    let done = 0;
    for (const waiting of this.#waiting) {
      const text = this.#serialized(waiting);
      const durable = waiting.kind === "decision" ? waiting.durable : undefined;
      this.#lines.push({ kind: waiting.kind, text, durable });
      this.#bytes += text.length - this.#maxLine;
      if (++done % 16 === 0 && performance.now() >= end) break;
    }
    this.#waiting = this.#waiting.slice(done);
    if (this.#waiting.length > 0) this.#slicing = setImmediate(this.#serialize);
    if (!this.#writing) void this.#write();
  };

  /** If a record cannot be built, a minimal one is written instead. */
  #serialized(waiting: Waiting): string {
    try {
      return waiting.kind === "decision"
        ? serializeRecord(waiting.build(), this.wantsTrace)
        : serializeOutcome(waiting.build());
    } catch (error) {
      this.#dependencies.metrics.auditBuildFailures.inc();
      this.#dependencies.log.error({ err: error }, "could not build an audit record");
      return waiting.kind === "decision"
        ? serializeRecord(minimalRecord(waiting.decision, error), false)
        : serializeOutcome(minimalOutcome(error));
    }
  }

  /** Writes until nothing is left. Only one runs at a time, and the destination's `write` never rejects. */
  async #write(): Promise<void> {
    this.#writing = true;
    let turn = performance.now();
    while (this.#lines.length > 0) {
      const batch = this.#batch();
      const urgent = batch.some(({ durable }) => durable?.isRevoked === false);
      const { written, error } = await this.#dependencies.destination.write(
        batch.map(({ text }) => text),
        urgent,
      );
      // given up in the meantime: these lines have been counted as lost
      if (this.#isClosed()) break;
      const lines = this.#lines.splice(0, written);
      this.#bytes -= lines.reduce((bytes, { text }) => bytes + text.length, 0);
      this.#countWritten(lines);
      this.#settle(written);
      this.#retry.note(error, written, this.#taken - this.#settled);
      if (error !== undefined) await this.#retry.pause(this.#state !== "open");
      else if (performance.now() - turn > SLICE_MS) {
        await new Promise((resolve) => setImmediate(resolve));
        turn = performance.now();
      }
    }
    this.#writing = false;
  }

  #countWritten(lines: readonly Line[]): void {
    let outcomes = 0;
    let atOnce = 0;
    for (const { kind, durable } of lines) {
      if (kind === "outcome") outcomes += 1;
      else if (durable?.isRevoked === false) atOnce += 1;
    }
    this.#tallies.outcome.written(outcomes);
    this.#tallies.decision.writtenAtOnce(atOnce);
    this.#tallies.decision.written(lines.length - outcomes - atOnce);
    for (const { durable } of lines) durable?.settled(true);
  }

  #isClosed(): boolean {
    return this.#state === "closed";
  }

  #batch(): readonly Line[] {
    let bytes = 0;
    let count = 0;
    for (const line of this.#lines) {
      const replacement = line.durable?.takeReplacement();
      if (replacement !== undefined) this.#replace(line, replacement);
      bytes += line.text.length;
      if (count > 0 && bytes > BATCH_BYTES) break;
      count++;
    }
    return this.#lines.slice(0, count);
  }

  #replace(line: Line, build: () => AuditRecord): void {
    const text = this.#serialized({ kind: "decision", decision: "DENY", build });
    this.#bytes += text.length - line.text.length;
    line.text = text;
  }

  #settle(count: number): void {
    this.#settled += count;
    while (this.#flushes[0] !== undefined && this.#flushes[0].until <= this.#settled) {
      this.#flushes.shift()?.resolve();
    }
  }
}
