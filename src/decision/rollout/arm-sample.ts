import { addHeavyCallers, type HeavyCaller } from "./heavy-callers.ts";

/** What was counted of the decisions of one arm over some time. JSON: workers send it to the supervisor. */
export interface ArmSample {
  readonly decisions: number;
  readonly denials: number;
  /** Denials because the evaluation failed. */
  readonly errors: number;
  /** Number of decisions by duration: entry `n` counts those up to {@link longestIn}(n). Entries at the end may be absent. */
  readonly durations: readonly number[];
  /** Who was denied most, and whose decisions took longest. */
  readonly heaviest: readonly HeavyCaller[];
}

/** Both arms over the same time. */
export interface ArmSamples {
  readonly stable: ArmSample;
  readonly candidate: ArmSample;
}

export const NO_DECISIONS: ArmSample = { decisions: 0, denials: 0, errors: 0, durations: [], heaviest: [] };

/** Each entry of a histogram is wider than the one before by this factor: 19 %. */
const GROWTH = 2 ** 0.25;
/** The first entry counts what took up to 10 µs. */
const LEAST_MS = 0.01;
/** The last entry also counts everything that took longer, about 2 minutes. */
const ENTRIES = 96;

/** @returns the entry of a histogram that counts a duration */
export function entryOf(durationMs: number): number {
  if (!(durationMs > LEAST_MS)) return 0;
  return Math.min(ENTRIES - 1, Math.ceil(Math.log(durationMs / LEAST_MS) / Math.log(GROWTH)));
}

/** @returns the longest duration that an entry counts, ms */
export function longestIn(entry: number): number {
  return LEAST_MS * GROWTH ** entry;
}

/** @returns the two counts together */
export function addSamples(one: ArmSample, other: ArmSample): ArmSample {
  const entries = Math.max(one.durations.length, other.durations.length);
  return {
    decisions: one.decisions + other.decisions,
    denials: one.denials + other.denials,
    errors: one.errors + other.errors,
    durations: Array.from(
      { length: entries },
      (_, entry) => (one.durations[entry] ?? 0) + (other.durations[entry] ?? 0),
    ),
    heaviest: addHeavyCallers(one.heaviest, other.heaviest),
  };
}

/** @returns the duration, ms, that a share of the decisions did not exceed, to the width of an entry; 0 without decisions */
export function quantileOf(
  { decisions, durations }: Pick<ArmSample, "decisions" | "durations">,
  share: number,
): number {
  let left = Math.ceil(decisions * share);
  for (const [entry, count] of durations.entries()) {
    left -= count;
    if (left <= 0 && count > 0) return longestIn(entry);
  }
  return 0;
}
