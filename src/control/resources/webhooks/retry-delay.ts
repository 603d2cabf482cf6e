import { backoffMs } from "../../../runtime/backoff.ts";

const RETRIES = { firstMs: 5_000, longestMs: 3_600_000, jitter: [0.8, 1.2] } as const;

/**
 * How long to wait after a failure: 5 s, doubled each time, an hour at most; a fifth more or less, so that what failed
 * together does not come back together.
 *
 * @param attempts - made so far, 1 or more
 */
export function retryDelay(attempts: number, random?: () => number): number {
  return backoffMs(attempts, RETRIES, random);
}
