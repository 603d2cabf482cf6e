import type { ConditionNode } from "./ast.ts";
import { childrenOf } from "./walk.ts";

/**
 * A part of a condition below `and`, `or` and `not`, with the verdict that grants access; `undefined` if either may.
 */
export interface ConditionPart {
  readonly node: ConditionNode;
  readonly opens: boolean | undefined;
}

/** @returns the parts of `node`, except attributes and literals; `(..) == false` counts as the negated operand */
export function partsOf(node: ConditionNode, opens: boolean | undefined): readonly ConditionPart[] {
  const parts: ConditionPart[] = [];
  addParts(node, opens, parts);
  return parts;
}

function addParts(node: ConditionNode, opens: boolean | undefined, parts: ConditionPart[]): void {
  if (node.op === "attribute" || node.op === "literal") return;
  if (node.op === "and" || node.op === "or") {
    for (const arg of node.args) addParts(arg, opens, parts);
    return;
  }
  if (node.op === "not") {
    addParts(node.arg, flippedIf(true, opens), parts);
    return;
  }
  const truth = comparedWithTruth(node);
  if (truth !== undefined) {
    addParts(truth.node, flippedIf(!truth.is, opens), parts);
    return;
  }
  parts.push({ node, opens });
  for (const child of childrenOf(node)) addParts(child, undefined, parts);
}

/** `not` is true if its part is false. */
export function flippedIf(negated: boolean, opens: boolean | undefined): boolean | undefined {
  return opens === undefined || !negated ? opens : !opens;
}

/** The operand compared with `true` or `false`, and the value that it must have. */
export function comparedWithTruth(
  node: ConditionNode,
): { readonly node: ConditionNode; readonly is: boolean } | undefined {
  if (node.op !== "==" && node.op !== "!=") return undefined;
  const { op, left, right } = node;
  if (right.op === "literal" && typeof right.value === "boolean") {
    return { node: left, is: right.value === (op === "==") };
  }
  if (left.op === "literal" && typeof left.value === "boolean") {
    return { node: right, is: left.value === (op === "==") };
  }
  return undefined;
}
