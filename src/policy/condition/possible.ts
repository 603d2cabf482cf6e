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
  switch (expression.op) {
    case "literal":
      return expression.value === verdict;
    case "attribute":
      // an empty path is missing, and stays so
      return expression.path.length > 0;
    case "not":
      return canBecome(expression.arg, !verdict);
    case "and":
    case "or": {
      // `and` is true, and `or` is false, where all arguments are; one is enough for the opposite
      const all = (expression.op === "and") === verdict;
      const can = (arg: Expression) => canBecome(arg, verdict);
      return all ? expression.args.every(can) : expression.args.some(can);
    }
    default:
      return true;
  }
}
