import { codeOf } from "../../storage/database.ts";
import { databaseFailure, isUnavailable } from "../../storage/index.ts";

/**
 * @returns why a step failed, for those who may read erasures. An error's own text may hold what was to be erased, so only the
 *   log has that.
 */
export function erasureFailure(error: unknown): string {
  return `${reasonOf(error)}; see the control plane's log`;
}

function reasonOf(error: unknown): string {
  const state = error instanceof Error ? (codeOf(error) ?? "") : "";
  if (isUnavailable(error) || state === QUERY_CANCELED) return databaseFailure(error);
  if (/^[0-9A-Z]{5}$/.test(state)) return `the database refused a statement (SQLSTATE ${state})`;
  return "an unexpected error";
}

/** PostgreSQL, appendix A: a statement that took longer than it may. */
const QUERY_CANCELED = "57014";

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** @returns how long to wait after so many failures in a row */
export function erasureRetryDelay(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
}
