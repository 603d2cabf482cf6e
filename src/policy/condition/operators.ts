import type { ComparisonOperator, Expression, StringMethod } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";

/**
 * Two tables of everything about operators except their meaning. An operator missing from a table is a compile error.
 * `evaluate.ts` and Lua implement the meaning.
 */

type Operator = Expression["op"];

/** Compares two operands by value; unknown if either is unknown. */
type TestOperator = ComparisonOperator | StringMethod;

/** Has a value; all others have a verdict. */
type ValueOperator = "attribute" | "literal" | "list";

type NodeOf<Op extends Operator, Node = ConditionNode> = Node extends { readonly op: infer Own }
  ? Op extends Own
    ? Node
    : never
  : never;

/** The names of all members that contain expressions. */
type ChildKeys<Node> = {
  readonly [
    Key in keyof Node as Node[Key] extends ConditionNode | readonly ConditionNode[] ? Key : never
  ]: true;
};

/** The members that contain an expression's children, in evaluation order. */
export const CHILDREN = {
  and: { args: true },
  or: { args: true },
  not: { arg: true },
  "==": { left: true, right: true },
  "!=": { left: true, right: true },
  "<": { left: true, right: true },
  "<=": { left: true, right: true },
  ">": { left: true, right: true },
  ">=": { left: true, right: true },
  startsWith: { target: true, arg: true },
  endsWith: { target: true, arg: true },
  in: { value: true, list: true },
  // nodes only: the IR has just the path
  exists: { attribute: true },
  attribute: {},
  literal: {},
  list: { items: true },
} as const satisfies { readonly [Op in Operator]: ChildKeys<NodeOf<Op>> };

const KNOWN: ReadonlySet<string> = new Set(Object.keys(CHILDREN));

/** What the static checks know about a test. */
interface TestFacts {
  /** Its operands: two scalars of one type, two numbers or two strings, or two strings. */
  readonly takes: "scalars" | "ordered" | "strings";
  /** How much of the left operand equals the right one if the two match. */
  readonly spells: "whole" | "start" | "end" | "nothing";
}

export const TESTS: Readonly<Record<TestOperator, TestFacts>> = {
  "==": { takes: "scalars", spells: "whole" },
  "!=": { takes: "scalars", spells: "whole" },
  "<": { takes: "ordered", spells: "nothing" },
  "<=": { takes: "ordered", spells: "nothing" },
  ">": { takes: "ordered", spells: "nothing" },
  ">=": { takes: "ordered", spells: "nothing" },
  startsWith: { takes: "strings", spells: "start" },
  endsWith: { takes: "strings", spells: "end" },
};

const TEST_OPERATORS: ReadonlySet<string> = new Set(Object.keys(TESTS));

/** A test: `==`, `<`, `.startsWith(..)`, ... */
export type TestOf<Node extends Expression> = Extract<Node, { readonly op: TestOperator }>;

export function isTest<Node extends Expression>(node: Node): node is TestOf<Node> {
  return TEST_OPERATORS.has(node.op);
}

/** An expression with a value: an attribute, a literal or a list. */
export type ValueOf<Node extends Expression> = Extract<Node, { readonly op: ValueOperator }>;

export function isValue<Node extends Expression>(node: Node): node is ValueOf<Node> {
  return node.op === "attribute" || node.op === "literal" || node.op === "list";
}

/** Whether this version knows the operator. IR may come from a later version. */
export function isKnown(expression: Expression): boolean {
  return KNOWN.has(expression.op);
}

/** @returns the two operands of a test, the left one first. */
export function operandsOf(test: TestOf<ConditionNode>): readonly [left: ConditionNode, right: ConditionNode];
export function operandsOf(test: TestOf<Expression>): readonly [left: Expression, right: Expression];
export function operandsOf(test: TestOf<Expression>): readonly [left: Expression, right: Expression] {
  return "left" in test ? [test.left, test.right] : [test.target, test.arg];
}
