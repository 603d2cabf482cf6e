import { Worker } from "node:worker_threads";
import type { ShadowRecord } from "../../protocol/index.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ShadowCounter, ShadowResult } from "./shadow-counter.ts";
import type {
  ShadowBatch,
  ShadowCandidate,
  ShadowReady,
  ShadowResults,
  ShadowTask,
} from "./shadow-messages.ts";

export interface ShadowEvaluatorOptions {
  /** The module that the thread runs: it says that it is ready, takes each ShadowBatch and answers with one ShadowResults. */
  readonly script: URL;
  /** Its `workerData`. */
  readonly data: unknown;
  /** Maximum number of decisions that wait for the candidate. Default: 1,000. */
  readonly capacity?: number;
  /** A thread that takes longer for one batch is stopped; ms. Default: 5 s. */
  readonly patienceMs?: number;
  /** A thread that takes longer to start is stopped; ms. Default: 60 s. */
  readonly startMs?: number;
  /**
   * Delay before the next thread is started after one has failed; ms. It doubles with each failure, until a thread has lived for
   * longer than that. Default: 5 s.
   */
  readonly restartMs?: number;
  /**
   * Per millisecond for which a slow batch, or one that failed, kept the thread busy, how long nothing is evaluated then; ms. Default: 9,
   * which leaves it a tenth of a core.
   */
  readonly rest?: number;
}

export interface ShadowDependencies {
  readonly record: (record: ShadowRecord) => void;
  readonly metrics: Pick<Metrics, "shadowDecisions" | "shadowDifferences">;
  /** Counts by candidate, in addition to the metrics. */
  readonly counter: ShadowCounter;
  readonly log: { warn(fields: object, message: string): void };
}

/** Requests with larger bodies are not evaluated in shadow: handing them over would take time. */
const MAX_BODY = 65_536;
/** Decisions are handed over this long after they were made, when their answers have left, and this many at a time. */
const COLLECT_MS = 20;
const BATCH = 100;
const MEMORY_MB = 512;
/** Longest delay after a failure. A start takes about as much of a core as a thousand decisions. */
const LONGEST_PAUSE_MS = 60_000;
/** A batch is slow if it keeps the thread busy for longer per decision, which is many times what the gateway takes for one. */
const SLOW_MS = 5;

/**
 * Evaluates a candidate beside the set that decides, in a thread of its own. Requests never wait for it: what does not
 * fit into its queue is dropped and counted. A thread that fails, needs too much memory or is too slow is stopped, and
 * only its results are lost. Workers and Envoy need the cores as well: a slow candidate gets a small part of one, and one that
 * fails again and again is tried less and less often.
 */
export class ShadowEvaluator {
  readonly #options: Required<ShadowEvaluatorOptions>;
  readonly #dependencies: ShadowDependencies;
  #waiting: { readonly candidate: ShadowCandidate; readonly task: ShadowTask }[] = [];
  #thread: Worker | undefined;
  #isReady = false;
  /** The number of tasks that the thread has, and their candidate by its digest. */
  #sent = 0;
  #sentOf = "";
  /** When the thread got its batch, and when it was ready; stopwatch time. */
  #sentAt = 0;
  #readyAt = 0;
  /** Threads that have failed, one soon after the other. */
  #failures = 0;
  #collecting: NodeJS.Timeout | undefined;
  #watching: NodeJS.Timeout | undefined;
  #pausing: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ShadowEvaluatorOptions, dependencies: ShadowDependencies) {
    this.#options = {
      ...{ capacity: 1_000, patienceMs: 5_000, startMs: 60_000, restartMs: 5_000, rest: 9 },
      ...options,
    };
    this.#dependencies = dependencies;
  }

  /** Takes a decision to be compared later. It costs the request one array element. */
  take(candidate: ShadowCandidate, task: ShadowTask): void {
    if (this.#pausing !== undefined && candidate.digest !== this.#sentOf) this.#forgive();
    const isTooLarge = (task.access.raw.body?.bytes.length ?? 0) > MAX_BODY;
    if (this.#closed || isTooLarge || this.#waiting.length + this.#sent >= this.#options.capacity) {
      this.#count(candidate.digest, "dropped", 1);
      return;
    }
    this.#waiting.push({ candidate, task });
    this.#collect();
  }

  close(): void {
    this.#closed = true;
    for (const timer of [this.#collecting, this.#watching, this.#pausing]) clearTimeout(timer);
    this.#waiting = [];
    void this.#thread?.terminate();
    this.#thread = undefined;
  }

  #collect(): void {
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      this.#send();
    }, COLLECT_MS).unref();
  }

  /** Hands over one batch, if the thread has none. */
  #send(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#sent > 0 || this.#pausing !== undefined || this.#closed) return;
    const { candidate } = first;
    const end = this.#waiting
      .slice(0, BATCH)
      .findIndex((other) => other.candidate.digest !== candidate.digest);
    const batch = this.#waiting.splice(0, end < 0 ? BATCH : end);
    this.#sent = batch.length;
    this.#sentOf = candidate.digest;
    this.#sentAt = performance.now();
    try {
      const thread = (this.#thread ??= this.#start());
      const message: ShadowBatch = { candidate, tasks: batch.map(({ task }) => task) };
      thread.postMessage(message);
      this.#watch(thread);
    } catch (error) {
      this.#failed(this.#thread, error);
    }
  }

  /** Stops a thread that is not ready, or has no result, in time. */
  #watch(thread: Worker): void {
    clearTimeout(this.#watching);
    const { patienceMs, startMs } = this.#options;
    const ms = this.#isReady ? patienceMs : startMs;
    const what = this.#isReady ? "no result" : "not started";
    this.#watching = setTimeout(() => {
      this.#failed(thread, new Error(`${what} within ${ms} ms`));
    }, ms).unref();
  }

  #start(): Worker {
    const { script, data } = this.#options;
    const thread = new Worker(script, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    thread.unref();
    this.#isReady = false;
    thread.on("message", (message: ShadowReady | ShadowResults) => {
      if (thread !== this.#thread) return;
      if ("ready" in message) {
        this.#isReady = true;
        this.#sentAt = this.#readyAt = performance.now();
        if (this.#sent > 0) this.#watch(thread);
      } else this.#finished(message);
    });
    thread.on("error", (error) => {
      this.#failed(thread, error);
    });
    thread.on("exit", (code) => {
      this.#failed(thread, new Error(`the thread exited with code ${code}`));
    });
    return thread;
  }

  #finished({ same, failed, bodiless, differences, busyMs }: ShadowResults): void {
    clearTimeout(this.#watching);
    const isSlow = busyMs > SLOW_MS * this.#sent;
    this.#sent = 0;
    if (performance.now() - this.#readyAt > this.#restartMs()) this.#failures = 0;
    const { metrics, counter, record } = this.#dependencies;
    const candidate = this.#sentOf;
    this.#count(candidate, "same", same);
    this.#count(candidate, "failed", failed);
    this.#count(candidate, "dropped", bodiless);
    this.#count(candidate, "different", differences.length);
    for (const found of differences) {
      const { difference } = found;
      const rule = found.candidate_rule ?? found.rule ?? "";
      metrics.shadowDifferences.inc({ difference, rule });
      counter.difference(candidate, { difference, rule, count: 1 });
      record(found);
    }
    if (isSlow) this.#pause(busyMs * this.#options.rest);
    else this.#send();
  }

  #failed(thread: Worker | undefined, error: unknown): void {
    // its end is reported after its error
    if (thread !== this.#thread || this.#closed) return;
    clearTimeout(this.#watching);
    this.#thread = undefined;
    void thread?.terminate();
    // how busy it was, nobody knows
    const busyMs = this.#sent > 0 ? performance.now() - this.#sentAt : 0;
    this.#count(this.#sentOf, "failed", this.#sent);
    this.#sent = 0;
    this.#dependencies.log.warn({ err: error }, "the shadow evaluation failed; decisions are not affected");
    this.#pause(Math.min(Math.max(this.#restartMs(), busyMs * this.#options.rest), LONGEST_PAUSE_MS));
    this.#failures += 1;
  }

  #restartMs(): number {
    return Math.min(this.#options.restartMs * 2 ** this.#failures, LONGEST_PAUSE_MS);
  }

  /** A candidate does not wait because of the one before, whose decisions are not evaluated any more. */
  #forgive(): void {
    clearTimeout(this.#pausing);
    this.#pausing = undefined;
    this.#failures = 0;
    const isLeft = ({ candidate }: { candidate: ShadowCandidate }) => candidate.digest === this.#sentOf;
    this.#count(this.#sentOf, "dropped", this.#waiting.filter(isLeft).length);
    this.#waiting = this.#waiting.filter((waiting) => !isLeft(waiting));
  }

  #pause(ms: number): void {
    clearTimeout(this.#pausing);
    this.#pausing = setTimeout(() => {
      this.#pausing = undefined;
      this.#send();
    }, ms).unref();
  }

  #count(candidate: string, result: ShadowResult, count: number): void {
    if (count === 0) return;
    this.#dependencies.metrics.shadowDecisions.inc({ result }, count);
    this.#dependencies.counter.count(candidate, result, count);
  }
}
