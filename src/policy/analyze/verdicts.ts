import type { Verdict } from "../value.ts";

/** A set of verdicts, one bit for each. */
export type Verdicts = number;

export const TRUE = 1;
export const FALSE = 2;
export const UNKNOWN = 4;
export const NOT_TRUE = FALSE | UNKNOWN;
export const NOT_FALSE = TRUE | UNKNOWN;

/** @returns the set of one verdict */
export function only(verdict: Verdict): Verdicts {
  return verdict === undefined ? UNKNOWN : verdict ? TRUE : FALSE;
}

/** Whether a set contains the verdict. */
export function contains(verdicts: Verdicts, verdict: Verdict): boolean {
  return (verdicts & only(verdict)) !== 0;
}
