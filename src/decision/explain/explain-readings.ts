import type { EvaluationContext } from "../decide/evaluation-context.ts";
import type { OfflineDecision } from "./offline.ts";

/** @returns all readings under which the request was evaluated: the canonical one, and the others that are permitted */
export function readingsOf({ decision, evaluation }: OfflineDecision): readonly EvaluationContext[] {
  if (evaluation === undefined) return [];
  return [evaluation.request, ...(decision.alsoRead ?? [])].map((request) => ({
    ...evaluation,
    request,
    draft: { ...evaluation.draft, request },
  }));
}

/** @returns the result of every reading, in order, without duplicates */
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
