/** Default burst, in seconds' worth of the rate. */
const BURST_SECONDS = 10;

export interface RateBudgetOptions {
  /** The average per second. */
  readonly perSecond: number;
  /** How many at once. Default: ten seconds' worth. */
  readonly burst?: number;
  /** ms; default: a monotonic clock. If it is set back, nothing is added until it advances again. */
  readonly clock?: () => number;
}

/** A token bucket: a rate per second on average, with bursts. */
export class RateBudget {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: () => number;
  #left: number;
  #at: number;

  constructor({
    perSecond,
    burst = perSecond * BURST_SECONDS,
    clock = () => performance.now(),
  }: RateBudgetOptions) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#clock = clock;
    this.#left = burst;
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
    const elapsed = Math.max(0, now - this.#at);
    this.#left = Math.min(this.#burst, this.#left + (elapsed / 1000) * this.#perSecond);
    this.#at = now;
    return this.#left < 1;
  }
}
