import { MOST_HEAVY_CALLERS } from "../../protocol/index.ts";

/** One caller's part in the decisions of an arm. JSON: workers send it to the supervisor. */
export interface HeavyCaller {
  /** A hash: it tells callers apart and names nobody. */
  readonly caller: string;
  readonly decisions: number;
  readonly denials: number;
  readonly errors: number;
  /** Decisions that took longer than {@link ALWAYS_FAST_MS}. */
  readonly slow: number;
}

/** Evaluation is never too slow below this: such differences are those of a busy machine. */
export const ALWAYS_FAST_MS = 5;
/**
 * How many are kept of those who were denied most, and of those whose decisions took longest: more than a guard ignores,
 * because of a caller who is not among them in one sample, the sum of many samples lacks a part.
 */
const KEPT = MOST_HEAVY_CALLERS / 2;

/** @returns the callers who were denied most and those whose decisions took longest; without the others */
export function heaviestOf(callers: readonly HeavyCaller[]): readonly HeavyCaller[] {
  if (callers.length <= KEPT) return callers.filter(({ denials, slow }) => denials + slow > 0);
  return [...new Set([...topBy("denials", callers, KEPT), ...topBy("slow", callers, KEPT)])];
}

/** @returns the heaviest callers of two samples together */
export function addHeavyCallers(
  one: readonly HeavyCaller[],
  other: readonly HeavyCaller[],
): readonly HeavyCaller[] {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const sums = new Map(one.map((caller) => [caller.caller, caller]));
  for (const caller of other) {
    const before = sums.get(caller.caller);
    sums.set(caller.caller, before === undefined ? caller : sumOf(before, caller));
  }
  return heaviestOf([...sums.values()]);
}

/** @returns up to `count` callers with the most denials, or slow decisions; only those who have any */
export function topBy(
  what: "denials" | "slow",
  callers: readonly HeavyCaller[],
  count: number,
): readonly HeavyCaller[] {
  return callers
    .filter((caller) => caller[what] > 0)
    .sort((a, b) => b[what] - a[what])
    .slice(0, count);
}

function sumOf(one: HeavyCaller, other: HeavyCaller): HeavyCaller {
  return {
    caller: one.caller,
    decisions: one.decisions + other.decisions,
    denials: one.denials + other.denials,
    errors: one.errors + other.errors,
    slow: one.slow + other.slow,
  };
}
