import type { RecordRejection } from "../../../protocol/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import { keptSince } from "./partitions.ts";

const DAY_MS = 86_400_000;
/** How far ahead a gateway's clock may be. */
export const MOST_AHEAD_MS = 5 * 60_000;
/** How long records and statistics may wait at their gateway. A key holder cannot write older ones. */
const LONGEST_WAIT_MS = 7 * DAY_MS;

/** Unix ms. */
export interface TimeBounds {
  readonly now: number;
  readonly since: number;
  readonly until: number;
}

/**
 * The times for which gateways may report.
 *
 * @param now - by the database's clock: a record must not be lost because the instance that receives it is off
 */
export function timeBounds(now: number, { auditMs }: ControlContext["settings"]["retention"]): TimeBounds {
  return {
    now,
    since: Math.max(keptSince(now, auditMs), now - LONGEST_WAIT_MS),
    until: now + MOST_AHEAD_MS,
  };
}

/** @returns why a time is refused, if it is */
export function outOfBounds(
  time: number,
  { since, until }: TimeBounds,
): Exclude<RecordRejection, "INVALID_RECORD"> | undefined {
  if (time > until) return "CLOCK_AHEAD";
  return time < since ? "TOO_OLD" : undefined;
}
