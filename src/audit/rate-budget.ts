/** How many seconds' worth may be taken at once. */
const BURST_SECONDS = 10;

/** So many per second on average, ten seconds' worth at once. */
export class RateBudget {
  readonly #perSecond: number;
  readonly #clock: () => number;
  #left: number;
  #at: number;

  /** @param clock - ms, only ever forward */
  constructor(perSecond: number, clock: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#left = perSecond * BURST_SECONDS;
    this.#at = clock();
  }

  /** @returns false where there is nothing left */
  take(): boolean {
    if (this.isSpent()) return false;
    this.#left -= 1;
    return true;
  }

  /** Whether nothing is left at the moment. */
  isSpent(): boolean {
    const now = this.#clock();
    const most = this.#perSecond * BURST_SECONDS;
    this.#left = Math.min(most, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    return this.#left < 1;
  }
}
