import type { Expression } from "../ir.ts";
import type { TraceNode } from "../condition/index.ts";
import type { EvaluatedPart } from "./types.ts";

/** @returns the parts that `and`, `or` and `not` combine, in source order */
export function testsIn(expression: Expression): readonly Expression[] {
  if (expression.op === "and" || expression.op === "or") return expression.args.flatMap(testsIn);
  return expression.op === "not" ? testsIn(expression.arg) : [expression];
}

/** @returns the verdicts of these parts */
export function partsOfTrace(trace: TraceNode): readonly EvaluatedPart[] {
  return leavesOf(trace).map(({ verdict }, part) => ({ part, verdict }));
}

function leavesOf(trace: TraceNode): readonly TraceNode[] {
  return trace.children.length === 0 ? [trace] : trace.children.flatMap(leavesOf);
}
