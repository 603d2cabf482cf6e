import { backoffMs } from "../../../runtime/backoff.ts";

const RETRIES = { firstMs: 5_000, longestMs: 3_600_000, jitter: [0.8, 1.2] } as const;

/**
 * The delay after a failure: 5 s, doubled each time, at most an hour; randomized by a fifth, so that deliveries that
 * failed together are not retried together.
 *
 * @param attempts - number of attempts so far, 1 or more
 */
export function retryDelay(attempts: number, random?: () => number): number {
  return backoffMs(attempts, RETRIES, random);
}
