import type { AttributePath, Expression } from "../policy/index.ts";

/** @returns the paths of what a subscription delivers that a condition reads, in the order of its text. */
export function lateReads(expression: Expression): readonly AttributePath[] {
  return readsOf(expression).filter(([root]) => root !== undefined && root !== "args" && root !== "env");
}

function readsOf(expression: Expression): readonly AttributePath[] {
  switch (expression.op) {
    case "and":
    case "or":
      return expression.args.flatMap(readsOf);
    case "not":
      return readsOf(expression.arg);
    case "in":
      return [...readsOf(expression.value), ...readsOf(expression.list)];
    case "startsWith":
    case "endsWith":
      return [...readsOf(expression.target), ...readsOf(expression.arg)];
    case "list":
      return expression.items.flatMap(readsOf);
    case "attribute":
    case "exists":
      return [expression.path];
    case "literal":
      return [];
    default:
      return [...readsOf(expression.left), ...readsOf(expression.right)];
  }
}
