import type { Expression } from "../ir.ts";

/**
 * Whether a residual (see `specialize`) may evaluate to true for some values of the attributes that it still reads. May
 * return true for one that never does, but never false for one that can.
 */
export function canBecomeTrue(residual: Expression): boolean {
  return canBecome(residual, true);
}

/** @param verdict - the verdict to look for; unknown is neither */
function canBecome(expression: Expression, verdict: boolean): boolean {
  if (expression.op === "not") return canBecome(expression.arg, !verdict);
  if (expression.op === "and" || expression.op === "or") {
    // `and` is true, and `or` false, if all arguments are; one argument is enough for the opposite
    const all = (expression.op === "and") === verdict;
    const can = (arg: Expression) => canBecome(arg, verdict);
    return all ? expression.args.every(can) : expression.args.some(can);
  }
  if (expression.op === "literal") return expression.value === verdict;
  // an empty path is always missing
  return expression.op !== "attribute" || expression.path.length > 0;
}
