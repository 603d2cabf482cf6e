import { setImmediate as nextTurn } from "node:timers/promises";

/** Work that takes longer than this lets other work have its turn; ms. */
const TURN_MS = 5;

/** Long work in parts, between which others have their turn. */
export class TimeSlices {
  readonly #stopwatch: () => number;
  /** When other work had its turn last. */
  #began = 0;
  #last: Promise<void> = Promise.resolve();

  /** @param stopwatch - milliseconds that never go back */
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

  /** Parts that come at the same time take their turns one after the other. */
  run(work: () => void): Promise<void> {
    const before = this.#last;
    const done = before.then(async () => {
      if (this.isOver()) await this.next();
      work();
    });
    // whoever waits for this part hears of its failure; the next one has its turn all the same
    this.#last = done.catch(() => undefined);
    return done;
  }
}
