const FIRST_MS = 5_000;
const LONGEST_MS = 3_600_000;

/**
 * How long to wait after a failure: 5 s, doubled each time, an hour at most; a fifth more or less, so that what failed
 * together does not come back together.
 *
 * @param attempts - made so far, 1 or more
 */
export function retryDelay(attempts: number, random: () => number = Math.random): number {
  const delay = Math.min(FIRST_MS * 2 ** (attempts - 1), LONGEST_MS);
  return Math.round(delay * (0.8 + 0.4 * random()));
}
