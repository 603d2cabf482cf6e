import { isList } from "../../json/index.ts";
import type { Expression } from "../ir.ts";
import type { Attributes, Verdict } from "../value.ts";
import {
  anyEqual,
  attributeOperand,
  equal,
  operandOf,
  ordered,
  readAttribute,
  type Operand,
} from "./values.ts";

/** Anything deeper in an expression is unknown. Parsed conditions are far less deep. */
export const MAX_DEPTH = 512;

/**
 * Decides a condition over `attributes` in Kleene's three-valued logic. A missing or unavailable attribute is unknown,
 * and so is a type that an operator does not accept. Never throws; takes time linear in the expression and the lists it
 * reads.
 */
export function evaluate(expression: Expression, attributes: Attributes): Verdict {
  return evaluateAt(expression, attributes, 0);
}

/** {@link evaluate}, for an expression `depth` levels below the root. */
export function evaluateAt(expression: Expression, attributes: Attributes, depth: number): Verdict {
  if (depth > MAX_DEPTH) return undefined;
  const below = depth + 1;
  switch (expression.op) {
    case "and":
      return decideAll(expression.args, false, attributes, below);
    case "or":
      return decideAll(expression.args, true, attributes, below);
    case "not":
      return negated(evaluateAt(expression.arg, attributes, below));
    case "==":
      return equal(
        operandAt(expression.left, attributes, below),
        operandAt(expression.right, attributes, below),
      );
    case "!=":
      return negated(
        equal(operandAt(expression.left, attributes, below), operandAt(expression.right, attributes, below)),
      );
    case "<":
    case "<=":
    case ">":
    case ">=":
      return ordered(
        expression.op,
        operandAt(expression.left, attributes, below),
        operandAt(expression.right, attributes, below),
      );
    case "in": {
      const value = operandAt(expression.value, attributes, below);
      if (expression.list.op === "list") {
        return anyEqual(value, expression.list.items, (item) => operandAt(item, attributes, below));
      }
      const list = listAt(expression.list, attributes, below);
      return isList(list) ? anyEqual(value, list, operandOf) : undefined;
    }
    case "startsWith":
    case "endsWith": {
      const target = operandAt(expression.target, attributes, below);
      const arg = operandAt(expression.arg, attributes, below);
      return typeof target === "string" && typeof arg === "string" ? target[expression.op](arg) : undefined;
    }
    case "exists": {
      const value = readAttribute(expression.path, attributes);
      return value === undefined ? false : typeof value === "symbol" ? undefined : true;
    }
    case "attribute":
    case "literal":
    case "list": {
      const value = operandAt(expression, attributes, depth);
      return typeof value === "boolean" ? value : undefined;
    }
  }
  // unknown: IR of a later version may have operators that this version does not know
}

/** The value of an expression used as an operand. The value of a condition is its verdict. */
function operandAt(expression: Expression, attributes: Attributes, depth: number): Operand {
  if (expression.op === "attribute") return attributeOperand(expression.path, attributes);
  if (expression.op === "literal") return operandOf(expression.value);
  if (expression.op === "list") return []; // outside `in`, only its type matters
  return evaluateAt(expression, attributes, depth);
}

/** The list that `in` searches. For a query parameter or header, it is the list of all its values. */
function listAt(expression: Expression, attributes: Attributes, depth: number): Operand {
  return expression.op === "attribute"
    ? operandOf(readAttribute(expression.path, attributes))
    : operandAt(expression, attributes, depth);
}

/**
 * Kleene's `and` (`decisive` is false) and `or` (it is true): decisive where one argument is, else unknown where one
 * is. Unknown without arguments, so that an empty `and` never permits.
 */
function decideAll(
  args: readonly Expression[],
  decisive: boolean,
  attributes: Attributes,
  depth: number,
): Verdict {
  let verdict: Verdict = args.length === 0 ? undefined : !decisive;
  for (const arg of args) {
    const one = evaluateAt(arg, attributes, depth);
    if (one === decisive) return decisive;
    if (one === undefined) verdict = undefined;
  }
  return verdict;
}

function negated(verdict: Verdict): Verdict {
  return verdict === undefined ? undefined : !verdict;
}
