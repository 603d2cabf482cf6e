import type { AttributePath, Expression, LiteralValue } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";
import { MAX_DEPTH } from "./evaluate.ts";
import { encodeString } from "./literal.ts";
import { isKnown, isTest } from "./operators.ts";

/** Binding strength. An expression that binds less tightly than its position requires is put in parentheses. */
const OR = 1;
const AND = 2;
const NOT = 3;
const COMPARISON = 4;
const OPERAND = 5;
const TARGET = 6;

/** @returns the canonical text of a condition: parsing it gives the same IR, formatting it again the same text. */
export function formatCondition(ast: ConditionNode): string {
  return print(ast, OR, 0);
}

/** @returns the text of a compiled expression. `.includes` is printed as `in`: the IR does not distinguish them. */
export function formatExpression(expression: Expression): string {
  return print(expression, OR, 0);
}

/** @returns `user.roles`, or `user["x-y"]` if a key is not an identifier */
export function formatPath(path: AttributePath): string {
  return path
    .map((key, index) => {
      if (index === 0) return key;
      return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `.${key}` : `[${encodeString(key)}]`;
    })
    .join("");
}

function print(expression: Expression, place: number, depth: number): string {
  if (depth > MAX_DEPTH || !isKnown(expression)) return "…";
  const [tightness, text] = spell(expression, depth + 1);
  return tightness < place ? `(${text})` : text;
}

function spell(expression: Expression, depth: number): [tightness: number, text: string] {
  const put = (part: Expression, place: number): string => print(part, place, depth);
  if (isTest(expression)) {
    const { op } = expression;
    return "left" in expression
      ? [COMPARISON, `${put(expression.left, OPERAND)} ${op} ${put(expression.right, OPERAND)}`]
      : [OPERAND, `${put(expression.target, TARGET)}.${op}(${put(expression.arg, OR)})`];
  }
  switch (expression.op) {
    case "and":
    case "or": {
      const tightness = expression.op === "and" ? AND : OR;
      return [tightness, expression.args.map((arg) => put(arg, tightness)).join(` ${expression.op} `)];
    }
    case "not": {
      const { arg } = expression;
      return arg.op === "in" && !isIncludes(arg)
        ? [COMPARISON, `${put(arg.value, OPERAND)} not in ${put(arg.list, OPERAND)}`]
        : [NOT, `not ${put(arg, NOT)}`];
    }
    case "in": {
      const { value, list } = expression;
      return isIncludes(expression)
        ? [OPERAND, `${put(list, TARGET)}.includes(${put(value, OR)})`]
        : [COMPARISON, `${put(value, OPERAND)} in ${put(list, OPERAND)}`];
    }
    case "exists":
      return [OPERAND, `exists(${formatPath(expression.path)})`];
    case "attribute":
      return [TARGET, formatPath(expression.path)];
    case "literal":
      // `5.x` would be read as a number
      return [typeof expression.value === "number" ? OPERAND : TARGET, formatLiteral(expression.value)];
    case "list":
      return [TARGET, `[${expression.items.map((item) => put(item, OR)).join(", ")}]`];
  }
}

function isIncludes(expression: Expression): boolean {
  return "form" in expression && expression.form === "includes";
}

function formatLiteral(value: LiteralValue): string {
  return typeof value === "string" ? encodeString(value) : JSON.stringify(value);
}
