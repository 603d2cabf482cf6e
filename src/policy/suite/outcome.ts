import type { CaseResult, Expectation, SuiteDecision } from "./types.ts";

/** `deny, CONDITION_FALSE, policies[0]`: the parts that were asked for. */
export function describeExpected({ decision, reason, rule }: Expectation): string {
  return [decision, reason, rule].filter((part) => part !== undefined).join(", ");
}

/** What was decided, or why nothing was. */
export function describeActual({ actual, problem }: Pick<CaseResult, "actual" | "problem">): string {
  return problem ?? (actual === undefined ? "no decision" : describeDecision(actual));
}

function describeDecision({ decision, reason, rules }: SuiteDecision): string {
  return [decision, reason, ...(rules.length > 0 ? rules : ["no rule"])].join(", ");
}
