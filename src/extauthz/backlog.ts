import { performance } from "node:perf_hooks";

export interface BacklogOptions {
  /** Unix ms. */
  readonly clock?: () => number;
  /** Monotonic clock; ms. */
  readonly stopwatch?: () => number;
  /** The event loop utilization since the last call, 0 to 1. */
  readonly utilization?: () => number;
}

/** Checks that waited longer than this are late. */
const LATE_MS = 200;
/** Length of the window after which the backlog is assessed. */
const WINDOW_MS = 100;
/** With at least this utilization, late checks mean a backlog. The process's share of the CPU may be small. */
const BUSY = 0.5;
/** Below this utilization the backlog has ended. It is lower, because shedding requests reduces the load. */
const RESTING = 0.2;

/**
 * Detects whether checks queue up for this process: for a whole window it was busy, and not one check started in time. The
 * shortest wait counts (as in RFC 8289), because one request that arrives slowly says nothing about the others. Utilization
 * counts, too, because Envoy's clock may be that of another machine. Costs two numbers per check.
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
   * Notes a check that starts now.
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
