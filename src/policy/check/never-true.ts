import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditionsOf } from "./uses.ts";
import { placeOf } from "../syntax/place-of.ts";

/** `condition: false` is valid, but rarely intended. */
export const neverTrue: PolicySetCheck = (set, report) => {
  for (const { condition, purpose } of conditionsOf(set)) {
    const { ast, node } = condition;
    if (ast.op !== "literal" || ast.value !== false) continue;
    if (purpose === "permits") report.warning(placeOf(node), "never-true", "this rule permits nobody");
    else report.warning(placeOf(node), "never-true", "this rule never applies", "delete it");
  }
};
