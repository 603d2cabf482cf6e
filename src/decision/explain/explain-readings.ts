import type { EvaluationContext } from "../decide/evaluation-context.ts";
import type { OfflineDecision } from "./offline.ts";

/** @returns everything that the request was evaluated as: what it is, and what else it could be and is permitted as */
export function readingsOf({ decision, evaluation }: OfflineDecision): readonly EvaluationContext[] {
  if (evaluation === undefined) return [];
  return [evaluation.request, ...(decision.alsoRead ?? [])].map((request) => ({
    ...evaluation,
    request,
    draft: { ...evaluation.draft, request },
  }));
}

/** @returns what every reading came to, in their order; what an earlier one came to as well is left out. */
export function eachOnce<T>(
  readings: readonly (readonly T[])[],
  key: (one: T) => unknown = (one) => one,
): readonly T[] {
  const known = new Set<string>();
  return readings.flatMap((found) => {
    const fresh = found
      .map((one) => [JSON.stringify(key(one)), one] as const)
      .filter(([text]) => !known.has(text));
    for (const [text] of fresh) known.add(text);
    return fresh.map(([, one]) => one);
  });
}
