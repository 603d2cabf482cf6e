import { DECISION, HEADER, PLAN_VERSION } from "../../../src/envoy-contract.ts";
import type { FieldPathIR, PlanIR, PlannedField } from "../../../src/policy/index.ts";
import type { CheckAnswer } from "./authz-stub.ts";

/** A permission that a plan goes along with, as Envoy gets it; `plan` may be any text, for plans that are none. */
export function planned(
  plan: PlanIR | string,
  more: Readonly<Record<string, string | number>> = {},
): CheckAnswer {
  const text = typeof plan === "string" ? plan : JSON.stringify(plan);
  const values = {
    [DECISION.plan]: text,
    [DECISION.decision_id]: "dec_1",
    [DECISION.method]: "GET",
    ...more,
  };
  const fields = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "number" ? { numberValue: value } : { stringValue: value },
    ]),
  );
  const header = {
    header: { key: HEADER.plan, value: String(PLAN_VERSION) },
    appendAction: "OVERWRITE_IF_EXISTS_OR_ADD",
  };
  return { status: { code: 0 }, okResponse: { headers: [header] }, dynamicMetadata: { fields } };
}

/** The plan of one response rule. */
export function responsePlan(...fields: readonly PlannedField[]): PlanIR {
  return { ir: 1, response: { limit: 4_000_000, fields } };
}

/** `ssn`, `a.b` or `$.a.b`, and what is done with it; replaced by `***` unless said otherwise. */
export function field(path: string, change: Partial<PlannedField> = {}): PlannedField {
  const anchored = path.startsWith("$.");
  const keys: FieldPathIR["keys"] = path.slice(anchored ? 2 : 0).split(".");
  return {
    rule: "response_filters[0]",
    keys,
    anchored,
    action: { kind: "replace", replacement: "***" },
    ...change,
  };
}
