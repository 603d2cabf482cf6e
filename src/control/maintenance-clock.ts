import { databaseNow } from "../storage/index.ts";
import type { ControlContext } from "./platform/context.ts";

/** The difference between this instance's clock and the database's beyond which the log warns. */
const MAX_DIFFERENCE_MS = 60_000;

/**
 * The clock by which maintenance removes what has expired: the earlier of this instance's and the database's, so that
 * one instance whose clock is ahead does not remove what others still need. The log says when the two begin to differ,
 * and when they agree again.
 *
 * @returns a function that compares the two, and returns the clock for one run
 */
export function createMaintenanceClock({
  db,
  clock,
  log,
}: Pick<ControlContext, "db" | "clock" | "log">): () => Promise<() => number> {
  let differ = false;
  return async () => {
    const before = clock();
    const now = (await databaseNow(db)).getTime();
    const aheadMs = Math.max(0, before - now);
    // read after the query, so that a slow one does not look like a difference
    const behindMs = Math.max(0, now - clock());
    const isFar = Math.max(aheadMs, behindMs) > MAX_DIFFERENCE_MS;
    if (isFar && !differ)
      log.warn(
        { ahead_ms: aheadMs, behind_ms: behindMs },
        "this instance's clock differs from the database's by more than a minute; synchronize the clocks",
      );
    if (!isFar && differ) log.info({}, "this instance's clock agrees with the database's again");
    differ = isFar;
    return () => clock() - aheadMs;
  };
}
