import {
  explain,
  formatExpression,
  paramsOf,
  pathsIn,
  UNAVAILABLE,
  type Attributes,
  type PlannedField,
  type ResponseFieldIR,
  type TraceNode,
  type VerdictName,
} from "../../policy/evaluation.ts";
import { maskDocument } from "../../policy/mask/index.ts";
import {
  fieldText,
  partsOfTrace,
  testsIn,
  type EvaluatedCondition,
  type EvaluatedPart,
} from "../../policy/suite/index.ts";
import { eachOnce } from "./explain-readings.ts";
import { gather, type EvaluationContext } from "../decide/evaluation-context.ts";
import { planFields } from "../decide/plan.ts";
import { ruleReference, type RuleReference } from "../policies/rule-reference.ts";

/** A sample document to mask. */
export interface Sample {
  readonly text: string;
  readonly response: Parameters<typeof maskDocument>[2];
}

/** A field that a rule may mask, and what the request determines about it. */
export interface EvaluatedField {
  readonly reference: RuleReference;
  readonly ir: ResponseFieldIR;
  readonly trace: TraceNode;
  /** The field's entry in the plan; absent if the condition is false. */
  readonly planned?: PlannedField;
  /** What is known of the request. */
  readonly attributes: Attributes;
}

/** Why a field is masked or not. Plain JSON. */
export interface FieldExplanation {
  readonly rule: RuleReference;
  readonly field: string;
  readonly action: string;
  /** The part of the condition that the request decides. */
  readonly verdict?: VerdictName;
  readonly condition?: TraceNode;
  /** The residual condition, which depends on the response. */
  readonly left?: string;
  /** What this rule alone changes in the sample; absent without a sample. */
  readonly masked?: readonly string[];
}

/** Evaluates every response rule that matches a reading of the request, field by field. */
export async function evaluateFields(
  readings: readonly EvaluationContext[],
): Promise<readonly EvaluatedField[]> {
  const found = [];
  for (const reading of readings) found.push(await evaluateFieldsAs(reading));
  return fieldsOfAll(found);
}

/** @returns the fields of several readings, without duplicates */
export function fieldsOfAll(readings: readonly (readonly EvaluatedField[])[]): readonly EvaluatedField[] {
  return eachOnce(readings, ({ reference, ir, trace, planned }) => [
    ...[reference.id, fieldText(ir.field), trace.verdict],
    planned,
  ]);
}

async function evaluateFieldsAs(evaluation: EvaluationContext): Promise<readonly EvaluatedField[]> {
  const { snapshot, request } = evaluation;
  const evaluated: EvaluatedField[] = [];
  for (const { rule, needs } of snapshot.responses.all(request.method, request.segments)) {
    const gathered = await gather(evaluation, needs, paramsOf(rule, request.segments));
    if (gathered.ok) evaluated.push(...fieldsOf(rule, ruleReference(rule), gathered.attributes));
  }
  return evaluated;
}

/** @returns the fields of one rule over the attributes of a request. */
export function fieldsOf(
  { id, fields }: { readonly id: string; readonly fields: readonly ResponseFieldIR[] },
  reference: RuleReference,
  attributes: Attributes,
): readonly EvaluatedField[] {
  return fields.map((ir) => {
    const [planned] = planFields(id, [ir], attributes);
    const trace = explain(ir.condition.expression, atRequest(attributes));
    return { reference, ir, trace, attributes, ...(planned && { planned }) };
  });
}

const LATE = ["item", "response"];

function atRequest(attributes: Attributes): Attributes {
  return { ...attributes, item: UNAVAILABLE, response: UNAVAILABLE };
}

/** @returns the verdicts of fields' conditions: for the request, or at each position of the field in the sample */
export function verdictsOf(fields: readonly EvaluatedField[], sample?: Sample): EvaluatedCondition[] {
  return fields.flatMap((field) => {
    const { reference, ir, planned, trace } = field;
    const evaluated = (verdict: VerdictName, parts: readonly EvaluatedPart[]): EvaluatedCondition => ({
      rule: reference.id,
      field: fieldText(ir.field),
      verdict,
      parts,
    });
    if (planned?.when === undefined) return [evaluated(trace.verdict, partsAtRequest(field))];
    if (sample === undefined) return [];
    return verdictsIn(planned, sample).map((verdict, index) =>
      evaluated(verdict, index === 0 ? partsIn(field, sample) : []),
    );
  });
}

/** The parts that do not read the response, which was not needed. */
function partsAtRequest({ ir, trace }: EvaluatedField): readonly EvaluatedPart[] {
  const tests = testsIn(ir.condition.expression);
  return partsOfTrace(trace).filter(({ part }) => {
    const test = tests[part];
    return test !== undefined && !pathsIn(test).some(([root = ""]) => LATE.includes(root));
  });
}

/** The parts at each position of the field in the sample. */
function partsIn({ ir, reference, attributes }: EvaluatedField, sample: Sample): EvaluatedPart[] {
  return testsIn(ir.condition.expression).flatMap((expression, part) => {
    const own = { ...ir, condition: { ...ir.condition, expression } };
    const [planned] = planFields(reference.id, [own], attributes);
    const verdicts =
      planned?.when === undefined
        ? [explain(expression, atRequest(attributes)).verdict]
        : verdictsIn(planned, sample);
    return verdicts.map((verdict) => ({ part, verdict }));
  });
}

/** @returns the field's explanation, with what it changes in the sample. */
export function explainField(
  { reference, ir, planned, trace }: EvaluatedField,
  sample?: Sample,
): FieldExplanation {
  const left = planned?.when;
  const outcome = sample && planned && maskDocument(sample.text, { fields: [planned] }, sample.response);
  return {
    rule: reference,
    field: fieldText(ir.field),
    action: describeAction(ir),
    ...(left === undefined ? { verdict: trace.verdict, condition: trace } : { left: formatExpression(left) }),
    ...(outcome?.ok === true && { masked: outcome.paths }),
  };
}

/**
 * The verdicts of a residual condition in a sample. Masking applies unless the condition is false. So if masking with
 * the negated condition leaves a value alone, the condition is true there. Uses `remove`, because its result cannot be
 * mistaken for the original value.
 */
function verdictsIn(planned: PlannedField, sample: Sample): VerdictName[] {
  const { when, ...always } = planned;
  if (when === undefined) return [];
  const without = (condition?: PlannedField["when"]) => {
    const field: PlannedField = {
      ...always,
      action: { kind: "remove" },
      ...(condition && { when: condition }),
    };
    const outcome = maskDocument(sample.text, { fields: [field] }, sample.response);
    return outcome.ok ? outcome.text : undefined;
  };
  const everywhere = without();
  if (everywhere === undefined || everywhere === sample.text) return [];
  const somewhereTrue = without({ op: "not", arg: when }) !== everywhere;
  const somewhereFalse = without(when) !== everywhere;
  if (!somewhereTrue && !somewhereFalse) return ["unknown"];
  return [...(somewhereTrue ? (["true"] as const) : []), ...(somewhereFalse ? (["false"] as const) : [])];
}

function describeAction({ action }: ResponseFieldIR): string {
  return action.kind === "replace" ? `replace with ${JSON.stringify(action.replacement)}` : action.kind;
}
