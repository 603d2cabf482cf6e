export interface BackoffOptions {
  /** After the first failure; doubled after each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The least and the most part of it that is waited for. Default: from a half to all of it. */
  readonly jitter?: readonly [least: number, most: number];
}

const JITTER = [0.5, 1] as const;

/**
 * How long to wait before the next attempt. A part of it is random, so that those who failed together do not come back
 * together.
 *
 * @param failures - in a row so far, 1 or more
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs, jitter: [least, most] = JITTER }: BackoffOptions,
  random: () => number = Math.random,
): number {
  const whole = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return Math.round(whole * (least + (most - least) * random()));
}

/** Counts failures in a row, and says how long to wait after each. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** How many attempts in a row have failed. */
  get failures(): number {
    return this.#failures;
  }

  /** An attempt has failed. @returns how long to wait before the next; ms */
  failed(): number {
    this.#failures += 1;
    return backoffMs(this.#failures, this.#options);
  }

  /** An attempt has succeeded: the next failure is the first again. */
  succeeded(): void {
    this.#failures = 0;
  }
}
