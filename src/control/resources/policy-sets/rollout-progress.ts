import {
  addSamples,
  NO_DECISIONS,
  quantileOf,
  type ArmSample,
  type ArmSamples,
} from "../../../decision/rollout/arm-sample.ts";
import { compareArms, type Comparison } from "../../../decision/rollout/compare-arms.ts";
import type { RolloutReport } from "../../../protocol/index.ts";
import type { ComparedReport, RolloutReportRow, RolloutRow } from "./rollout-store.ts";

/** A gateway whose last report is older counts no more; it also exceeds the longest interval of reports. */
const LEAST_FRESH_MS = 60_000;
/** The width of the percentiles that are shown: that of the histogram. */
const P99 = 0.99;

/**
 * Decisions of all gateways by arm, within the guard's window, under the present terms.
 *
 * @param now - by the clock that wrote the times of the reports
 */
export function windowOf(
  { revision, guard }: RolloutRow,
  reports: readonly ComparedReport[],
  now: Date,
): ArmSamples {
  const since = now.getTime() - Math.max(LEAST_FRESH_MS, guard?.window_ms ?? 0);
  return sumOf(
    reports
      .filter((report) => report.revision === revision && report.seen_at.getTime() >= since)
      .map(({ samples }) => samples),
  );
}

/** What the guard sees: of all gateways together, for one alone may have too few decisions. */
export function compareReports(
  rollout: RolloutRow,
  reports: readonly ComparedReport[],
  now: Date,
): Comparison | undefined {
  const { guard, mode, state } = rollout;
  if (guard === null || mode !== "enforce" || state !== "running") return undefined;
  const { min_requests, denial_increase, error_increase, slowdown, ignored_callers } = guard;
  return compareArms(windowOf(rollout, reports, now), {
    ...{ minRequests: min_requests, denialIncrease: denial_increase },
    ...{ errorIncrease: error_increase, slowdown, ignoredCallers: ignored_callers },
  });
}

/** What gateways have reported, for the API. */
export function presentProgress(
  rollout: RolloutRow,
  reports: readonly RolloutReportRow[],
  shadow: NonNullable<RolloutReport["shadow"]>,
  now: Date,
): object {
  const totals = sumOf(reports.map((report) => report.totals));
  return {
    comparison: compareReports(rollout, reports, now) ?? null,
    window: presentArms(windowOf(rollout, reports, now)),
    totals: presentArms(totals),
    shadow,
    gateways: reports.map(({ gateway, sender, revision, seen_at, taken_back }) => ({
      ...{ id: gateway, key: sender, revision, last_seen_at: seen_at, taken_back },
    })),
  };
}

function sumOf(samples: readonly ArmSamples[]): ArmSamples {
  return samples.reduce(
    (sum, { stable, candidate }) => ({
      stable: addSamples(sum.stable, stable),
      candidate: addSamples(sum.candidate, candidate),
    }),
    { stable: NO_DECISIONS, candidate: NO_DECISIONS },
  );
}

function presentArms({ stable, candidate }: ArmSamples): object {
  const arm = (sample: ArmSample) => {
    const { decisions, denials, errors } = sample;
    return { decisions, denials, errors, p99_ms: quantileOf(sample, P99) };
  };
  return { stable: arm(stable), candidate: arm(candidate) };
}
