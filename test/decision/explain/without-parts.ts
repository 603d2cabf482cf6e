import type { EvaluatedCondition } from "../../../src/policy/suite/index.ts";

/** Evaluated conditions without the verdicts of their parts, which `test/cli/policy-coverage.test.ts` is about. */
export function withoutParts(evaluated: readonly EvaluatedCondition[]): EvaluatedCondition[] {
  return evaluated.map(({ parts: _, ...one }) => one);
}
