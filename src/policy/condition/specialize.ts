import { isList } from "../../json/index.ts";
import type { AttributePath, Expression } from "../ir.ts";
import type { Attributes, Verdict } from "../value.ts";
import { evaluate, MAX_DEPTH } from "./evaluate.ts";
import { isTest, type TestOf } from "./operators.ts";
import { anyEqual, attributeOperand, operandOf, readAttribute, type Operand } from "./values.ts";

/** The residual of a condition: its verdict, or an expression that reads only attributes that are not known yet. */
export type Specialized =
  | { readonly known: true; readonly verdict: Verdict }
  | { readonly known: false; readonly residual: Expression };

/** The same for an operand, which may be a verdict. */
type Part =
  | { readonly known: true; readonly value: Operand }
  | { readonly known: false; readonly residual: Expression };

/** The attributes that are known now, and the roots that are not. */
interface Knowledge {
  readonly attributes: Attributes;
  readonly late: ReadonlySet<string>;
}

/** An empty path is missing, so every operator returns unknown for it. */
const UNKNOWN: Expression = { op: "attribute", path: [] };
const TRUE: Expression = { op: "literal", value: true };

const UNDECIDABLE: Specialized = { known: true, verdict: undefined };
const DECIDED_TRUE: Specialized = { known: true, verdict: true };
const DECIDED_FALSE: Specialized = { known: true, verdict: false };
const NOTHING: Attributes = {};

/**
 * Decides as much of a condition as `attributes` allow. For all values `after` of the `late` roots, evaluating the
 * residual over `after` gives the same verdict as evaluating `expression` over both. No condition in the residual is
 * deeper than before, and the only values from `attributes` in it are those that late parts are compared with.
 *
 * @param late - roots that are not known yet; members of `attributes` with these names are ignored
 */
export function specialize(
  expression: Expression,
  attributes: Attributes,
  late: ReadonlySet<string>,
): Specialized {
  return conditionAt(expression, { attributes, late }, 0);
}

function conditionAt(expression: Expression, knowledge: Knowledge, depth: number): Specialized {
  if (depth > MAX_DEPTH) return UNDECIDABLE;
  if (isTest(expression)) return testAt(expression, knowledge, depth + 1);
  return otherAt(expression, knowledge, depth) ?? UNDECIDABLE;
}

/** All operators except tests. @returns nothing for an operator of a later version, which IR may contain. */
function otherAt(
  expression: Exclude<Expression, TestOf<Expression>>,
  knowledge: Knowledge,
  depth: number,
): Specialized | undefined {
  const below = depth + 1;
  switch (expression.op) {
    case "and":
      return connective("and", false, expression.args, knowledge, below);
    case "or":
      return connective("or", true, expression.args, knowledge, below);
    case "not":
      return negated(conditionAt(expression.arg, knowledge, below));
    case "in":
      return membership(expression, knowledge, below);
    case "exists":
      return isLate(expression.path, knowledge)
        ? { known: false, residual: expression }
        : decided(evaluate(expression, knowledge.attributes));
    case "attribute":
    case "literal":
    case "list": {
      const part = operandAt(expression, knowledge, depth);
      return part.known ? decided(typeof part.value === "boolean" ? part.value : undefined) : part;
    }
  }
}

function operandAt(expression: Expression, knowledge: Knowledge, depth: number): Part {
  if (expression.op === "attribute") {
    return isLate(expression.path, knowledge)
      ? { known: false, residual: expression }
      : known(attributeOperand(expression.path, knowledge.attributes));
  }
  if (expression.op === "literal") return known(operandOf(expression.value));
  if (expression.op === "list") return known([]); // outside `in`, only its type matters
  const part = conditionAt(expression, knowledge, depth);
  return part.known ? known(part.verdict) : { known: false, residual: verdictOf(part.residual) };
}

/** The list to search. For a query parameter or header, it is the list of all its values. */
function listAt(expression: Expression, knowledge: Knowledge, depth: number): Part {
  return expression.op === "attribute" && !isLate(expression.path, knowledge)
    ? known(operandOf(readAttribute(expression.path, knowledge.attributes)))
    : operandAt(expression, knowledge, depth);
}

/** `and` (`decisive` is false) or `or` (it is true), without the decided arguments that do not decide the whole. */
function connective(
  op: "and" | "or",
  decisive: boolean,
  args: readonly Expression[],
  knowledge: Knowledge,
  depth: number,
): Specialized {
  const left: Expression[] = [];
  let verdict: Verdict = args.length === 0 ? undefined : !decisive;
  for (const arg of args) {
    const part = conditionAt(arg, knowledge, depth);
    if (!part.known) {
      for (const one of part.residual.op === op ? part.residual.args : [part.residual]) left.push(one);
    } else if (part.verdict === decisive) return decided(decisive);
    else if (part.verdict === undefined) verdict = undefined;
  }
  const [first] = left;
  if (first === undefined) return decided(verdict);
  if (verdict === undefined) left.push(UNKNOWN); // with it, the result can only be `decisive` or unknown
  return { known: false, residual: left.length === 1 ? first : { op, args: left } };
}

function negated(part: Specialized): Specialized {
  if (part.known) return decided(part.verdict === undefined ? undefined : !part.verdict);
  const { residual } = part;
  return { known: false, residual: residual.op === "not" ? residual.arg : { op: "not", arg: residual } };
}

/** A test is unknown if one of its operands is unknown. */
function testAt(expression: TestOf<Expression>, knowledge: Knowledge, depth: number): Specialized {
  if ("left" in expression) {
    const left = operandAt(expression.left, knowledge, depth);
    const right = operandAt(expression.right, knowledge, depth);
    if (isUnknown(left) || isUnknown(right)) return UNDECIDABLE;
    const residual = { op: expression.op, left: expressionOf(left), right: expressionOf(right) };
    return left.known && right.known ? decided(evaluate(residual, NOTHING)) : { known: false, residual };
  }
  const target = operandAt(expression.target, knowledge, depth);
  const arg = operandAt(expression.arg, knowledge, depth);
  if (isUnknown(target) || isUnknown(arg)) return UNDECIDABLE;
  const residual = { op: expression.op, target: expressionOf(target), arg: expressionOf(arg) };
  return target.known && arg.known ? decided(evaluate(residual, NOTHING)) : { known: false, residual };
}

function membership(
  { value: valueExpression, list }: Extract<Expression, { op: "in" }>,
  knowledge: Knowledge,
  depth: number,
): Specialized {
  const value = operandAt(valueExpression, knowledge, depth);
  if (list.op === "list") {
    return membershipOf(
      value,
      list.items.map((item) => operandAt(item, knowledge, depth)),
    );
  }
  const part = listAt(list, knowledge, depth);
  if (!part.known) {
    return { known: false, residual: { op: "in", value: expressionOf(value), list: part.residual } };
  }
  if (!isList(part.value)) return UNDECIDABLE;
  return membershipOf(
    value,
    Array.from(part.value, (item) => known(operandOf(item))),
  );
}

/** `value in [items]`, without the items that a known value does not equal. */
function membershipOf(value: Part, items: readonly Part[]): Specialized {
  if (items.length === 0) return decided(false); // for every value
  if (!value.known) return remaining(value, items);
  if (value.value === undefined) return UNDECIDABLE;
  const now = items.flatMap((item) => (item.known ? [item.value] : []));
  const verdict = anyEqual(value.value, now, (item) => item);
  const late = items.filter((item) => !item.known);
  if (verdict === true || late.length === 0) return decided(verdict);
  return remaining(value, verdict === false ? late : [...late, known(undefined)]);
}

function remaining(value: Part, items: readonly Part[]): Specialized {
  const list: Expression = { op: "list", items: items.map(expressionOf) };
  return { known: false, residual: { op: "in", value: expressionOf(value), list } };
}

/** The expression for an operand, known or not known yet. */
function expressionOf(part: Part): Expression {
  if (!part.known) return part.residual;
  const { value } = part;
  if (value === undefined) return UNKNOWN;
  // as an operand, an object behaves like a list: neither a scalar nor null
  if (typeof value === "object" && value !== null) return { op: "list", items: [] };
  return { op: "literal", value };
}

/** A condition's residual as an operand. A bare attribute there would be read as its value, not its verdict. */
function verdictOf(residual: Expression): Expression {
  return residual.op === "attribute" ? { op: "and", args: [residual, TRUE] } : residual;
}

function isLate(path: AttributePath, { late }: Knowledge): boolean {
  const [root] = path;
  return root !== undefined && late.has(root);
}

function decided(verdict: Verdict): Specialized {
  return verdict === undefined ? UNDECIDABLE : verdict ? DECIDED_TRUE : DECIDED_FALSE;
}

function known(value: Operand): Part {
  return { known: true, value };
}

function isUnknown(part: Part): boolean {
  return part.known && part.value === undefined;
}
