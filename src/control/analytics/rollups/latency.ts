/**
 * A histogram of durations: eight buckets for each power of two, so that a bucket is at most 9 % wider than the one before,
 * and histograms add up exactly.
 */
const PER_OCTAVE = 8;
/** The last bucket includes all longer durations: 2^26 µs are about a minute. */
const LAST = 26 * PER_OCTAVE;

/** The bucket of a duration. */
export function bucketOf(microseconds: number): number {
  if (microseconds <= 1) return 0;
  const bucket = Math.ceil(Math.log2(microseconds) * PER_OCTAVE);
  return Math.min(bucket, LAST);
}

/** The longest duration of a bucket, µs. */
export function longestIn(bucket: number): number {
  return 2 ** (bucket / PER_OCTAVE);
}

/**
 * The duration that `share` (0 to 1) of all do not exceed, in µs: the upper end of its bucket, so never too low.
 *
 * @param buckets - bucket and number of durations
 * @returns `undefined` if there are none
 */
export function percentileOf(
  buckets: readonly (readonly [number, number])[],
  share: number,
): number | undefined {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return undefined;
  let left = Math.max(1, Math.ceil(total * share));
  const sorted = buckets.toSorted(([a], [b]) => a - b);
  for (const [bucket, count] of sorted) {
    left -= count;
    if (left <= 0) return longestIn(bucket);
  }
  return undefined;
}
