export interface BackoffOptions {
  /** After the first failure; doubled after each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The smallest and largest fraction of it to wait. Default: from half to all of it. */
  readonly jitter?: readonly [least: number, most: number];
}

const JITTER = [0.5, 1] as const;

/**
 * How long to wait before the next attempt. Part of it is random (jitter), so that clients that failed together do not retry
 * together.
 *
 * @param failures - consecutive failures so far, 1 or more
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs, jitter: [least, most] = JITTER }: BackoffOptions,
  random: () => number = Math.random,
): number {
  const whole = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return Math.round(whole * (least + (most - least) * random()));
}

/** Counts consecutive failures and computes the delay after each. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The number of consecutive failures. */
  get failures(): number {
    return this.#failures;
  }

  /** Records a failed attempt. @returns the delay before the next attempt; ms */
  failed(): number {
    this.#failures += 1;
    return backoffMs(this.#failures, this.#options);
  }

  /** Records a successful attempt, which resets the count. */
  succeeded(): void {
    this.#failures = 0;
  }
}
