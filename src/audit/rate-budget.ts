/** Burst size, in seconds' worth of the rate. */
const BURST_SECONDS = 10;

/** A token bucket: a rate per second on average, with bursts of ten seconds' worth. */
export class RateBudget {
  readonly #perSecond: number;
  readonly #clock: () => number;
  #left: number;
  #at: number;

  /** @param clock - monotonic, ms */
  constructor(perSecond: number, clock: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#left = perSecond * BURST_SECONDS;
    this.#at = clock();
  }

  /** @returns false if nothing is left */
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
