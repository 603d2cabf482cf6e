import { isTest, operandsOf } from "../../../src/policy/condition/operators.ts";
import type { Expression } from "../../../src/policy/ir.ts";

/** Writes an expression as nobody should: all parentheses, odd blanks, either quote, either way to search a list. */
export function sloppy(expression: Expression, next: () => number): string {
  const put = (part: Expression): string => {
    const blank = [" ", "  ", "\n", "\t "][next() % 4] ?? " ";
    return `(${blank}${sloppy(part, next)}${blank})`;
  };
  if (isTest(expression)) {
    const [left, right] = operandsOf(expression);
    return "left" in expression
      ? `${put(left)}${expression.op}${put(right)}`
      : `${put(left)}.${expression.op}${put(right)}`;
  }
  switch (expression.op) {
    case "and":
    case "or":
      return expression.args.map(put).join(expression.op);
    case "not":
      return expression.arg.op === "in" && next() % 2 === 0
        ? `${put(expression.arg.value)}not in${put(expression.arg.list)}`
        : `not${put(expression.arg)}`;
    case "in":
      return next() % 2 === 0
        ? `${put(expression.value)}in${put(expression.list)}`
        : `${put(expression.list)} . includes(${put(expression.value)})`;
    case "exists":
      return `exists ( ${pathOf(expression.path)} )`;
    case "attribute":
      return pathOf(expression.path);
    case "literal":
      return typeof expression.value === "string"
        ? stringOf(expression.value, next)
        : JSON.stringify(expression.value);
    case "list":
      return `[${expression.items.map(put).join(",")}]`;
  }
}

function pathOf(path: readonly string[]): string {
  const [root = "", ...keys] = path;
  return root + keys.map((key) => `[${escaped(key)}]`).join("");
}

function stringOf(value: string, next: () => number): string {
  const text = escaped(value);
  return next() % 2 === 0 ? text : `'${text.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Everything beyond ASCII as an escape. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
