import type { AttributePath, Expression } from "../ir.ts";

/** @returns the parts of an expression, in the order in which they are written. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.op) {
    case "and":
    case "or":
      return expression.args;
    case "not":
      return [expression.arg];
    case "in":
      return [expression.value, expression.list];
    case "startsWith":
    case "endsWith":
      return [expression.target, expression.arg];
    case "list":
      return expression.items;
    case "attribute":
    case "exists":
    case "literal":
      return [];
    default:
      return [expression.left, expression.right];
  }
}

/** @returns what an expression reads below a root, as paths from there on. */
export function readsBelow(expression: Expression, root: string): readonly AttributePath[] {
  const found: AttributePath[] = [];
  const ahead = [expression];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (next.op === "attribute" || next.op === "exists") {
      if (next.path[0] === root && next.path.length > 1) found.push(next.path.slice(1));
    } else for (const part of partsOf(next)) ahead.push(part);
  }
  return found;
}
