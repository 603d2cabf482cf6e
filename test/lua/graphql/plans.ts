import { compileCondition, parseCondition } from "../../../src/policy/condition/index.ts";
import type { GraphqlPlanIR, PlannedGraphqlRule } from "../../../src/policy/plan.ts";

/** A rule by its target, such as `subscription orderUpdated` or `query Customer.ssn`. */
export function ruleOf(target: string, when?: string | false): PlannedGraphqlRule {
  const [operation, name = ""] = target.split(" ") as [PlannedGraphqlRule["operation"], string?];
  const [type, field] = name.split(".") as [string, string?];
  return {
    rule: target,
    operation,
    ...(field === undefined ? { field: type } : { type, field }),
    onDeny: "reject",
    ...(when === undefined ? {} : { when: typeof when === "string" ? expressionOf(when) : when }),
  };
}

function expressionOf(text: string) {
  const parsed = parseCondition(text);
  if (!("ast" in parsed)) throw new Error(`no condition: ${text}`);
  return compileCondition(parsed.ast, text).expression;
}

/** A plan with wide limits. */
export function planOf(
  rules: readonly PlannedGraphqlRule[],
  more: Partial<GraphqlPlanIR> = {},
): GraphqlPlanIR {
  return {
    rules,
    limits: { depth: 100, aliases: 100, rootFields: 100, tokens: 10_000 },
    introspection: "deny",
    default: "deny",
    ...more,
  };
}
