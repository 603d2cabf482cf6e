import { paramsOf, type PlannedField } from "../policy/index.ts";
import { chain, gather, type Eventually, type Judgement } from "./judgement.ts";
import { planFields } from "./plan.ts";
import type { Decision } from "./types.ts";

/** What response rules may still change in the answer, or why the request cannot be let through. */
export type ResponseFields =
  | {
      readonly ok: true;
      readonly fields: readonly PlannedField[];
      /** Every rule that these fields are of lets answers of other types pass. */
      readonly othersPass: boolean;
    }
  | { readonly ok: false; readonly denial: Decision };

const NOTHING: ResponseFields = { ok: true, fields: [], othersPass: true };

/** Judges every response rule that matches the request, as far as the request tells. */
export function judgeResponses(judgement: Judgement): Eventually<ResponseFields> {
  const { snapshot, request } = judgement;
  const rules = snapshot.responses.all(request.method, request.segments);
  return rules.reduce<Eventually<ResponseFields>>(
    (sofar, { rule, needs }) =>
      chain(sofar, (before) => {
        if (!before.ok) return before;
        // who is asking matters only to conditions: without an identity they are unknown, and that masks
        const { identity } = judgement.caller;
        const caller = identity === undefined ? {} : { identity };
        return chain(
          gather({ ...judgement, caller }, needs, paramsOf(rule, request.segments)),
          (gathered) => {
            if (!gathered.ok) return gathered;
            const fields = planFields(rule.id, rule.fields, gathered.attributes);
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
