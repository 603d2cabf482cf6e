import type { ControlSettings } from "../platform/context.ts";
import { ApiError } from "../platform/errors.ts";
import { countedSince } from "./rollups/prune-rollups.ts";
import { PERIOD_MS, type Granularity } from "./rollups/tally.ts";

/** A range of time in whole periods. */
export interface TimeRange {
  /** Unix ms. */
  readonly from: number;
  readonly to: number;
  readonly interval: Granularity;
}

const HOUR_MS = PERIOD_MS.hour;
const DAY_MS = PERIOD_MS.day;
/** The longest range shown per minute and per hour by default. */
const BY_MINUTE_MS = 6 * HOUR_MS;
const BY_HOUR_MS = 8 * DAY_MS;
const MAX_PERIODS = 1500;
/** The last time that a response can express, in Unix ms. */
const LATEST = 253_402_300_799_999;

/**
 * The range of a dashboard: whole periods of its interval, so that its totals are the sums of its series.
 *
 * @param asked - Unix ms; default: the last day
 * @throws ApiError 400
 */
export function rangeOf(
  asked: {
    readonly from?: number | undefined;
    readonly to?: number | undefined;
    readonly interval?: Granularity | undefined;
  },
  ofCustomer: boolean,
  now: number,
  retention: ControlSettings["retention"],
): TimeRange {
  const to = asked.to ?? now;
  const from = asked.from ?? to - DAY_MS;
  if (from >= to) throw notValid("from", "must be before `to`");
  const interval = asked.interval ?? usualInterval(from, to, ofCustomer, now, retention);
  if (interval === "minute" && ofCustomer)
    throw notValid("interval", "for one customer, only counts per hour and per day are available");
  const period = PERIOD_MS[interval];
  const range = { from: Math.floor(from / period) * period, to: Math.ceil(to / period) * period, interval };
  if (range.to > LATEST) throw notValid("to", "must be before the end of the year 9999");
  const since = countedSince(interval, now, retention, ofCustomer);
  if (range.from < since)
    throw notValid("from", `counts per ${interval} are available since ${new Date(since).toISOString()}`);
  if ((range.to - range.from) / period > MAX_PERIODS)
    throw notValid("interval", `a range may have at most ${MAX_PERIODS} periods`);
  return range;
}

function usualInterval(
  from: number,
  to: number,
  ofCustomer: boolean,
  now: number,
  retention: ControlSettings["retention"],
): Granularity {
  const kept = (granularity: Granularity) => from >= countedSince(granularity, now, retention, ofCustomer);
  if (to - from <= BY_MINUTE_MS && !ofCustomer && kept("minute")) return "minute";
  return to - from <= BY_HOUR_MS && kept("hour") ? "hour" : "day";
}

function notValid(parameter: string, message: string): ApiError {
  return new ApiError("INVALID_PARAMETER", {
    message: `the parameter \`${parameter}\` of the query is not valid: ${message}`,
    details: { parameters: [{ parameter, message }] },
  });
}
