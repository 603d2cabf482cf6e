import { isList } from "../../json/index.ts";
import type { AttributePath, Expression } from "../ir.ts";
import { UNAVAILABLE, type Attributes, type Value } from "../value.ts";
import { evaluateAt, MAX_DEPTH } from "./evaluate.ts";
import { isTest, isValue, operandsOf } from "./operators.ts";
import { attributeOperand, isSentSeveralTimes, operandOf, readAttribute } from "./values.ts";

/** Why a part of a condition is unknown. */
export type WhyUnknown =
  /** The attribute is missing. */
  | "missing"
  /** Its source failed. */
  | "unavailable"
  /** A parameter or header that was sent several times, but a single value is compared. */
  | "repeated"
  /** The operator does not take its type, or not together with the other operand's type. */
  | "type";

/** An attribute that made a condition unknown. */
export interface UnknownRead {
  readonly path: AttributePath;
  readonly why: WhyUnknown;
  /** Its type, if that is the reason. */
  readonly type?: string;
}

/** The most that are listed; more would not help. */
const MAX_READS = 10;

/**
 * Lists the attributes that made a condition unknown: those of its unknown parts, not of the parts with a verdict.
 * Empty if the condition is not unknown.
 */
export function whyUnknown(expression: Expression, attributes: Attributes): UnknownRead[] {
  const found = new Map<string, UnknownRead>();
  collect(expression, attributes, 0, (read) => {
    if (found.size < MAX_READS) found.set(JSON.stringify(read.path), read);
  });
  return [...found.values()];
}

type Found = (read: UnknownRead) => void;

function collect(expression: Expression, attributes: Attributes, depth: number, found: Found): void {
  if (depth >= MAX_DEPTH || evaluateAt(expression, attributes, depth) !== undefined) return;
  if (isTest(expression)) {
    collectOperands(operandsOf(expression), attributes, depth + 1, found);
    return;
  }
  switch (expression.op) {
    case "and":
    case "or":
      for (const arg of expression.args) collect(arg, attributes, depth + 1, found);
      return;
    case "not":
      collect(expression.arg, attributes, depth + 1, found);
      return;
    case "exists":
      found({ path: expression.path, why: "unavailable" });
      return;
    case "in":
      collectIn(expression, attributes, depth + 1, found);
      return;
    case "attribute":
    case "literal":
    case "list":
      collectOperands([expression], attributes, depth, found);
      return;
  }
}

/** For a list in brackets, the unknown entries; for any other operand, its type instead of a list. */
function collectIn(
  { value, list }: Extract<Expression, { op: "in" }>,
  attributes: Attributes,
  depth: number,
  found: Found,
): void {
  if (list.op === "list") {
    collectOperands([value, ...list.items], attributes, depth, found);
    return;
  }
  const searched = list.op === "attribute" ? readAttribute(list.path, attributes) : undefined;
  if (list.op === "attribute" && !isList(searched)) {
    found({ path: list.path, ...reasonOf(searched) });
    return;
  }
  const hasValue = value.op !== "attribute" || attributeOperand(value.path, attributes) !== undefined;
  if (hasValue && list.op === "attribute") {
    found({ path: list.path, why: "type", type: "a list with entries of another type" });
  } else collectOperands([value], attributes, depth, found);
}

/** Operands without a value are the reason; if all have a value, their types are. */
function collectOperands(
  operands: readonly Expression[],
  attributes: Attributes,
  depth: number,
  found: Found,
): void {
  const paths = operands.flatMap((operand) => (operand.op === "attribute" ? [operand.path] : []));
  const without = paths.filter((path) => attributeOperand(path, attributes) === undefined);
  for (const path of without) found({ path, ...reasonOf(readAttribute(path, attributes), path) });
  const nested = operands.filter((operand) => !isValue(operand));
  for (const operand of nested) collect(operand, attributes, depth, found);
  if (without.length > 0 || nested.length > 0) return;
  for (const path of paths) {
    found({ path, why: "type", type: typeOf(attributeOperand(path, attributes)) });
  }
}

function reasonOf(
  value: Value | typeof UNAVAILABLE | undefined,
  path?: AttributePath,
): Omit<UnknownRead, "path"> {
  if (value === undefined) return { why: "missing" };
  if (value === UNAVAILABLE) return { why: "unavailable" };
  if (path !== undefined && isSentSeveralTimes(path) && isList(value)) {
    return { why: value.length === 0 ? "missing" : "repeated" };
  }
  return { why: "type", type: typeOf(operandOf(value)) };
}

function typeOf(value: Value | undefined): string {
  if (value === undefined) return "not a JSON value";
  if (value === null) return "null";
  if (isList(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
