import { paramsOf, type PlannedField } from "../../policy/evaluation.ts";
import { gather, type EvaluationContext } from "./evaluation-context.ts";
import { planFields } from "./plan.ts";
import type { Denial } from "../types.ts";
import { andThen, type PromiseOrValue } from "../promise-or-value.ts";

/** What response rules may still change in the response, or why the request is denied. */
export type ResponseFields =
  | {
      readonly ok: true;
      readonly fields: readonly PlannedField[];
      /** Every rule that these fields belong to lets responses of other types pass. */
      readonly othersPass: boolean;
    }
  | { readonly ok: false; readonly denial: Denial };

const NOTHING: ResponseFields = { ok: true, fields: [], othersPass: true };

/** Evaluates every response rule that matches the request, as far as the request allows. */
export function evaluateResponses(evaluation: EvaluationContext): PromiseOrValue<ResponseFields> {
  const { snapshot, request } = evaluation;
  const rules = snapshot.responses.all(request.method, request.segments);
  return rules.reduce<PromiseOrValue<ResponseFields>>(
    (sofar, { rule, needs }) =>
      andThen(sofar, (before) => {
        if (!before.ok) return before;
        // the identity matters only to conditions: without one they are unknown, which masks
        const { identity } = evaluation.caller;
        const caller = identity === undefined ? {} : { identity };
        return andThen(
          gather({ ...evaluation, caller }, needs, paramsOf(rule, request.segments)),
          (gathered) => {
            if (!gathered.ok) return gathered;
            const fields = planFields(
              rule.id,
              rule.fields,
              gathered.attributes,
              evaluation.with.recorded?.specialize,
            );
            return {
              ok: true,
              fields: [...before.fields, ...fields],
              othersPass: before.othersPass && (fields.length === 0 || rule.otherTypes === "pass"),
            };
          },
        );
      }),
    NOTHING,
  );
}
