import { clip } from "../../../text/index.ts";
import type { ConditionNode } from "../ast.ts";
import { errorAt, type ConditionFinding } from "../finding.ts";
import { formatCondition } from "../format.ts";
import { isTest, operandsOf, TESTS } from "../operators.ts";
import {
  isNeverNull,
  typeName,
  typeOf,
  type ConditionContext,
  type KnownType,
  type ConditionCheck,
} from "../types.ts";

/** Comparisons take two scalars of the same type. Only numbers and strings are ordered. */
export const comparableTypes: ConditionCheck = (node, context) => {
  if (!isTest(node)) return [];
  const [left, right] = operandsOf(node);
  switch (TESTS[node.op].takes) {
    case "scalars":
      return equality(node, left, right, context);
    case "ordered":
      return order(node, left, right, context);
    case "strings":
      return []; // see string-methods.ts
  }
};

function equality(
  node: ConditionNode,
  left: ConditionNode,
  right: ConditionNode,
  context: ConditionContext,
): readonly ConditionFinding[] {
  const types = [typeOf(left, context), typeOf(right, context)] as const;
  if (types.includes("null")) return node.op === "==" ? neverNull(node, left, right, context) : [];
  for (const [operand, other, type] of [
    [left, right, types[0]],
    [right, left, types[1]],
  ] as const) {
    if (type !== "list" && type !== "object") continue;
    const text = clip(formatCondition(operand), 60);
    const hint =
      type === "list" && !isCompound(types, other)
        ? `write \`${text}.includes(${clip(formatCondition(other), 60)})\``
        : "compare one value at a time";
    return [errorAt(node, "type-mismatch", `\`${text}\` is ${typeName(type)} and cannot be compared`, hint)];
  }
  return unequalTypes(node, left, types);
}

/** `!=` is not a mistake: it is true if there is a value. */
function neverNull(
  node: ConditionNode,
  left: ConditionNode,
  right: ConditionNode,
  context: ConditionContext,
): readonly ConditionFinding[] {
  const operand = [left, right].find((side) => isNeverNull(side, context));
  if (operand === undefined) return [];
  const text = clip(formatCondition(operand), 60);
  const hint = `a missing attribute is unknown, not null: write \`not exists(${text})\``;
  return [errorAt(node, "type-mismatch", `\`${text}\` is never null`, hint)];
}

function order(
  node: ConditionNode,
  left: ConditionNode,
  right: ConditionNode,
  context: ConditionContext,
): readonly ConditionFinding[] {
  const types = [typeOf(left, context), typeOf(right, context)] as const;
  for (const [operand, type] of [
    [left, types[0]],
    [right, types[1]],
  ] as const) {
    if (type === undefined || type === "number" || type === "string") continue;
    const text = clip(formatCondition(operand), 60);
    const message = `\`${text}\` is ${typeName(type)} and cannot be ordered`;
    return [errorAt(operand, "not-ordered", message, "compare two numbers or two strings")];
  }
  return unequalTypes(node, left, types);
}

function unequalTypes(
  node: ConditionNode,
  left: ConditionNode,
  [a, b]: readonly [KnownType, KnownType],
): readonly ConditionFinding[] {
  if (a === undefined || b === undefined || a === b) return [];
  const text = clip(formatCondition(left), 60);
  const message = `\`${text}\` is ${typeName(a)} but is compared with ${typeName(b)}`;
  return [errorAt(node, "type-mismatch", message, "compare values of the same type")];
}

function isCompound(types: readonly KnownType[], other: ConditionNode): boolean {
  return types.every((type) => type === "list" || type === "object") || other.op === "list";
}
