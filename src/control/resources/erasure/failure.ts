import { backoffMs } from "../../../runtime/backoff.ts";
import { errorCode } from "../../../runtime/error-code.ts";
import { databaseFailure, isCanceled, isUnavailable } from "../../../storage/index.ts";

/**
 * @returns why a step failed, for those who may read erasures. An error's own text may hold what was to be erased, so only the
 *   log has that.
 */
export function erasureFailure(error: unknown): string {
  return `${reasonOf(error)}; see the control plane's log`;
}

function reasonOf(error: unknown): string {
  const state = errorCode(error) ?? "";
  if (isUnavailable(error) || isCanceled(error)) return databaseFailure(error);
  if (/^[0-9A-Z]{5}$/.test(state)) return `the database refused a statement (SQLSTATE ${state})`;
  return "an unexpected error";
}

const RETRY = { firstMs: 1_000, longestMs: 300_000, jitter: [1, 1] } as const;

/** @returns how long to wait after so many failures in a row */
export function erasureRetryDelay(failures: number): number {
  return backoffMs(failures, RETRY);
}
