import type { Expression } from "../ir.ts";

/**
 * Whether a residual (see `specialize`) may evaluate to true, whatever the attributes that it still reads turn out to
 * be. It may say so of one that never does, and never the opposite.
 */
export function canBecomeTrue(residual: Expression): boolean {
  return canBecome(residual, true);
}

/** @param verdict - what is asked for; unknown is neither */
function canBecome(expression: Expression, verdict: boolean): boolean {
  if (expression.op === "not") return canBecome(expression.arg, !verdict);
  if (expression.op === "and" || expression.op === "or") {
    // `and` is true, and `or` is false, where all arguments are; one is enough for the opposite
    const all = (expression.op === "and") === verdict;
    const can = (arg: Expression) => canBecome(arg, verdict);
    return all ? expression.args.every(can) : expression.args.some(can);
  }
  if (expression.op === "literal") return expression.value === verdict;
  // an empty path is missing, and stays so
  return expression.op !== "attribute" || expression.path.length > 0;
}
