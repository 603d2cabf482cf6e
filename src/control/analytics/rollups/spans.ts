import type { Knex } from "knex";
import { PERIOD_MS, type Granularity } from "./tally.ts";

/**
 * Part of a time range, and the granularity by which it is counted. Unix ms; the end is exclusive and may be infinite.
 */
export interface RollupSpan<G extends string = Granularity> {
  readonly granularity: G;
  readonly from: number;
  readonly to: number;
}

/** Parts that no whole period covers are counted by records. */
export type AnySpan = RollupSpan<Granularity | "record">;

/**
 * Cuts a range into as few periods as possible: whole days in the middle, then hours, then minutes at its ends.
 *
 * @param since - the granularities that there are, longest first, with the time from which each is complete
 */
export function spansOf(
  from: number,
  to: number,
  since: readonly (readonly [Granularity, number])[],
): AnySpan[] {
  if (from >= to) return [];
  const [first, ...shorter] = since;
  if (first === undefined) return [{ granularity: "record", from, to }];
  const [granularity, complete] = first;
  const period = PERIOD_MS[granularity];
  const start = Math.ceil(Math.max(from, complete) / period) * period;
  const end = Math.floor(to / period) * period;
  if (start >= end) return spansOf(from, to, shorter);
  return [
    ...spansOf(from, start, shorter),
    { granularity, from: start, to: end },
    ...spansOf(end, to, shorter),
  ];
}

export function isCounted(span: AnySpan): span is RollupSpan {
  return span.granularity !== "record";
}

/** Filters the rows of a rollup that are in one of the spans. */
export function within(query: Knex.QueryBuilder, spans: readonly RollupSpan[]): Knex.QueryBuilder {
  return query.where((either) => {
    // no span, no row
    if (spans.length === 0) either.whereRaw("false");
    for (const { granularity, from, to } of spans) {
      either.orWhere((one) => {
        one.where({ granularity }).where("start", ">=", new Date(from));
        if (Number.isFinite(to)) one.where("start", "<", new Date(to));
      });
    }
  });
}
