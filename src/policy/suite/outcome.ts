import type { CaseResult, Expectation, SuiteDecision } from "./types.ts";

/** `deny, CONDITION_FALSE, policies[0]`: the parts that the test expects */
export function describeExpected({ decision, reason, rule }: Expectation): string {
  return [decision, reason, rule].filter((part) => part !== undefined).join(", ");
}

/** The decision, or why there is none. */
export function describeActual({ actual, problem }: Pick<CaseResult, "actual" | "problem">): string {
  return problem ?? (actual === undefined ? "no decision" : describeDecision(actual));
}

function describeDecision({ decision, reason, rules }: SuiteDecision): string {
  return [decision, reason, ...(rules.length > 0 ? rules : ["no rule"])].join(", ");
}
