import { performance } from "node:perf_hooks";

export interface BacklogOptions {
  /** Unix ms. */
  readonly clock?: () => number;
  /** Milliseconds that never go back. */
  readonly stopwatch?: () => number;
  /** The share of the time since the last call, 0 to 1, in which this process had something to do. */
  readonly utilization?: () => number;
}

/** Checks that wait for longer are late. */
const LATE_MS = 200;
/** How long it is looked at before it is said whether there is a backlog. */
const WINDOW_MS = 100;
/** A process that works for so much of the time has a backlog where its checks are late. Its share of the processor may be small. */
const BUSY = 0.5;
/** One that works for less has none any more: while requests are turned away there is less to do. */
const RESTING = 0.2;

/**
 * Whether checks queue up for this process: for a while it had much to do, and not one check was taken in time. The
 * shortest wait counts (as in RFC 8289), because a request that comes in slowly says nothing about those beside it; and
 * the work counts, because Envoy's clock may be another machine's. Costs two numbers per check.
 */
export class Backlog {
  readonly #clock: () => number;
  readonly #stopwatch: () => number;
  readonly #utilization: () => number;
  #began = Number.NEGATIVE_INFINITY;
  #shortest = 0;
  #there = false;

  constructor(options: BacklogOptions = {}) {
    this.#clock = options.clock ?? Date.now;
    this.#stopwatch = options.stopwatch ?? (() => performance.now());
    this.#utilization = options.utilization ?? eventLoopUtilization();
  }

  /**
   * Takes note of a check that begins now.
   *
   * @param receivedAt - when Envoy received its request; Unix ms
   * @returns whether there is a backlog
   */
  take(receivedAt: number): boolean {
    const now = this.#stopwatch();
    if (now - this.#began >= WINDOW_MS) {
      const works = this.#utilization() >= (this.#there ? RESTING : BUSY);
      this.#there = works && this.#shortest >= LATE_MS;
      this.#began = now;
      this.#shortest = Number.POSITIVE_INFINITY;
    }
    this.#shortest = Math.min(this.#shortest, this.#clock() - receivedAt);
    return this.#there;
  }
}

function eventLoopUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
