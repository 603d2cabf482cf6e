import { setImmediate as nextTurn } from "node:timers/promises";

/** Work that takes longer than this yields to other work; ms. */
const TURN_MS = 5;

/** Runs long work in parts and yields to the event loop between them. */
export class TimeSlices {
  readonly #stopwatch: () => number;
  /** The time of the last yield. */
  #began = 0;
  #last: Promise<void> = Promise.resolve();

  /** @param stopwatch - a monotonic clock in milliseconds */
  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch;
  }

  isOver(): boolean {
    return this.#stopwatch() - this.#began >= TURN_MS;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#began = this.#stopwatch();
  }

  /** Concurrent parts run one after the other. */
  run(work: () => void): Promise<void> {
    const before = this.#last;
    const done = before.then(async () => {
      if (this.isOver()) await this.next();
      work();
    });
    // the caller of this part gets its failure; the next part runs in any case
    this.#last = done.catch(() => undefined);
    return done;
  }
}
