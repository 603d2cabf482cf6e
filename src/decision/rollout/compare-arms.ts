import { quantileOf, type ArmSample, type ArmSamples } from "./arm-sample.ts";

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
/** Evaluation is never too slow below this: such differences are those of a busy machine. */
const ALWAYS_FAST_MS = 5;

/**
 * Compares a candidate with the stable set.
 *
 * A share counts as higher if the difference is above the limit and above three standard errors of the difference of
 * two proportions (pooled; Agresti, Categorical Data Analysis, section 3.2).
 */
export function compareArms({ stable, candidate }: ArmSamples, limits: GuardLimits): Comparison {
  const { minRequests } = limits;
  if (candidate.decisions < minRequests || stable.decisions < minRequests) {
    const had = `candidate ${candidate.decisions}, stable ${stable.decisions}`;
    return { outcome: "inconclusive", detail: `fewer than ${minRequests} decisions (${had})` };
  }
  const higher = (
    cause: GuardCause,
    what: string,
    of: (sample: ArmSample) => number,
    limit: number,
  ): Comparison | undefined => {
    const [new_, old] = [of(candidate) / candidate.decisions, of(stable) / stable.decisions];
    if (new_ - old <= limit) return undefined;
    const detail = `${what}: ${percent(new_)} with the candidate, ${percent(old)} with the stable set`;
    if (new_ - old <= STANDARD_ERRORS * standardError(stable, candidate, of))
      return { outcome: "inconclusive", detail: `${detail}, which may be chance` };
    return { outcome: "worse", cause, detail };
  };
  const found = [
    higher("errors", "failed evaluations", ({ errors }) => errors, limits.errorIncrease),
    higher("denials", "denials", ({ denials }) => denials, limits.denialIncrease),
    slower(stable, candidate, limits.slowdown),
  ].filter((one) => one !== undefined);
  return found.find(({ outcome }) => outcome === "worse") ?? found[0] ?? { outcome: "ok" };
}

function standardError(stable: ArmSample, candidate: ArmSample, of: (sample: ArmSample) => number): number {
  const pooled = (of(stable) + of(candidate)) / (stable.decisions + candidate.decisions);
  return Math.sqrt(pooled * (1 - pooled) * (1 / stable.decisions + 1 / candidate.decisions));
}

function slower(stable: ArmSample, candidate: ArmSample, slowdown: number): Comparison | undefined {
  const [new_, old] = [quantileOf(candidate, 0.99), quantileOf(stable, 0.99)];
  if (new_ <= Math.max(ALWAYS_FAST_MS, old * slowdown)) return undefined;
  const times = `${new_.toFixed(1)} ms with the candidate, ${old.toFixed(1)} ms with the stable set`;
  return { outcome: "worse", cause: "slow", detail: `99th percentile of evaluation: ${times}` };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
