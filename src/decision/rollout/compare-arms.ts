import { entryOf, quantileOf, type ArmSample, type ArmSamples } from "./arm-sample.ts";
import { ALWAYS_FAST_MS, topBy } from "./heavy-callers.ts";

/** How much worse than the stable set a candidate may be. */
export interface GuardLimits {
  /** Decisions that each arm must have. */
  readonly minRequests: number;
  /** By how much the share of denials may be higher: 0.05 is five percentage points. */
  readonly denialIncrease: number;
  /** The same for failed evaluations. */
  readonly errorIncrease: number;
  /** How many times as long the 99th percentile of evaluation may be. */
  readonly slowdown: number;
  /** What this many callers of each arm do alone does not count: those who were denied most, or took longest. */
  readonly ignoredCallers: number;
}

/** Why a candidate is taken back. */
export const GUARD_CAUSES = ["denials", "errors", "slow"] as const;
export type GuardCause = (typeof GUARD_CAUSES)[number];

/** The result of a comparison. */
export type Comparison =
  | { readonly outcome: "ok" }
  /** There is too little to tell. */
  | { readonly outcome: "inconclusive"; readonly detail: string }
  | { readonly outcome: "worse"; readonly cause: GuardCause; readonly detail: string };

/** A difference of shares that is smaller than this many standard errors may be chance (about one in a thousand). */
const STANDARD_ERRORS = 3;
/** The share of `minRequests` that must be left without the callers that are ignored. */
const LEAST_LEFT = 0.5;

/**
 * Compares a candidate with the stable set.
 *
 * A share counts as higher if the difference is above the limit and above three standard errors of the difference of
 * two proportions (pooled; Agresti, Categorical Data Analysis, section 3.2).
 *
 * What a few callers do alone does not count. Otherwise one client that is denied on purpose could have any candidate
 * taken back or, in the other arm, hide what a candidate does to everybody else.
 */
export function compareArms(arms: ArmSamples, limits: GuardLimits): Comparison {
  const { stable, candidate } = arms;
  const { minRequests } = limits;
  if (candidate.decisions < minRequests || stable.decisions < minRequests) {
    const had = `candidate ${candidate.decisions}, stable ${stable.decisions}`;
    return { outcome: "inconclusive", detail: `fewer than ${minRequests} decisions (${had})` };
  }
  const withoutDenied = without(arms, limits, withoutMostDenied);
  const withoutSlow = without(arms, limits, withoutSlowest);
  const found = [
    ofMany(arms, withoutDenied, (compared) => failingMore(compared, limits)),
    ofMany(arms, withoutDenied, (compared) => denyingMore(compared, limits)),
    ofMany(arms, withoutSlow, (compared) => slower(compared, limits)),
  ].filter((one) => one !== undefined);
  return found.find(({ outcome }) => outcome === "worse") ?? found[0] ?? { outcome: "ok" };
}

type Found = Exclude<Comparison, { outcome: "ok" }> | undefined;

/**
 * @param reduced - the arms without a few callers; `undefined` if too little is left
 * @returns what is found without these callers, or that only they are concerned
 */
function ofMany(
  arms: ArmSamples,
  reduced: ArmSamples | undefined,
  compare: (arms: ArmSamples) => Found,
): Found {
  const found = compare(arms);
  if (reduced === arms) return found;
  const ofOthers = reduced && compare(reduced);
  if (ofOthers?.outcome === "worse") return ofOthers;
  if (found?.outcome !== "worse") return found;
  return { outcome: "inconclusive", detail: `${found.detail}, but only because of a few callers` };
}

/** @returns the arms themselves if no callers are to be ignored */
function without(
  arms: ArmSamples,
  { ignoredCallers, minRequests }: GuardLimits,
  reduce: (sample: ArmSample, count: number) => ArmSample,
): ArmSamples | undefined {
  if (ignoredCallers === 0) return arms;
  const { stable, candidate } = arms;
  const reduced = { stable: reduce(stable, ignoredCallers), candidate: reduce(candidate, ignoredCallers) };
  const least = minRequests * LEAST_LEFT;
  return Math.min(reduced.stable.decisions, reduced.candidate.decisions) < least ? undefined : reduced;
}

function withoutMostDenied(sample: ArmSample, count: number): ArmSample {
  const callers = topBy("denials", sample.heaviest, count);
  const less = (of: "decisions" | "denials" | "errors") =>
    Math.max(
      0,
      callers.reduce((left, caller) => left - caller[of], sample[of]),
    );
  return { ...sample, decisions: less("decisions"), denials: less("denials"), errors: less("errors") };
}

/** Without the slow decisions of these callers, which are taken for the longest of all. */
function withoutSlowest(sample: ArmSample, count: number): ArmSample {
  let left = topBy("slow", sample.heaviest, count).reduce((sum, { slow }) => sum + slow, 0);
  const durations = [...sample.durations];
  let { decisions } = sample;
  for (let entry = durations.length - 1; entry > entryOf(ALWAYS_FAST_MS) && left > 0; entry -= 1) {
    const taken = Math.min(left, durations[entry] ?? 0);
    durations[entry] = (durations[entry] ?? 0) - taken;
    left -= taken;
    decisions -= taken;
  }
  return { ...sample, decisions, durations };
}

function failingMore(arms: ArmSamples, { errorIncrease }: GuardLimits): Found {
  return higher("errors", "failed evaluations", arms, ({ errors }) => errors, errorIncrease);
}

function denyingMore(arms: ArmSamples, { denialIncrease }: GuardLimits): Found {
  return higher("denials", "denials", arms, ({ denials }) => denials, denialIncrease);
}

function higher(
  cause: GuardCause,
  what: string,
  { stable, candidate }: ArmSamples,
  of: (sample: ArmSample) => number,
  limit: number,
): Found {
  const [new_, old] = [of(candidate) / candidate.decisions, of(stable) / stable.decisions];
  if (new_ - old <= limit) return undefined;
  const detail = `${what}: ${percent(new_)} with the candidate, ${percent(old)} with the stable set`;
  if (new_ - old <= STANDARD_ERRORS * standardError(stable, candidate, of))
    return { outcome: "inconclusive", detail: `${detail}, which may be chance` };
  return { outcome: "worse", cause, detail };
}

function standardError(stable: ArmSample, candidate: ArmSample, of: (sample: ArmSample) => number): number {
  const pooled = (of(stable) + of(candidate)) / (stable.decisions + candidate.decisions);
  return Math.sqrt(pooled * (1 - pooled) * (1 / stable.decisions + 1 / candidate.decisions));
}

function slower({ stable, candidate }: ArmSamples, { slowdown }: GuardLimits): Found {
  const [new_, old] = [quantileOf(candidate, 0.99), quantileOf(stable, 0.99)];
  if (new_ <= Math.max(ALWAYS_FAST_MS, old * slowdown)) return undefined;
  const times = `${new_.toFixed(1)} ms with the candidate, ${old.toFixed(1)} ms with the stable set`;
  return { outcome: "worse", cause: "slow", detail: `99th percentile of evaluation: ${times}` };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
