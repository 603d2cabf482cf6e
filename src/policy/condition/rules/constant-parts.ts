import type { ConditionNode } from "../ast.ts";
import { clip } from "../../../text/index.ts";
import { evaluate } from "../evaluate.ts";
import { verdictName } from "../explain.ts";
import { warningAt } from "../finding.ts";
import { formatCondition } from "../format.ts";
import type { ConditionCheck } from "../types.ts";
import { childrenOf } from "../walk.ts";

/** A part that reads no attribute has no effect. Only `true` or `false` as the whole condition is intended that way. */
export const constantParts: ConditionCheck = (node, _, parent) => {
  if (!isConstantCondition(node, parent) || (parent !== undefined && isConstant(parent))) return [];
  const text = clip(formatCondition(node), 60);
  return [warningAt(node, "constant-part", `\`${text}\` is always ${verdictName(evaluate(node, {}))}`)];
};

function isConstantCondition(node: ConditionNode, parent: ConditionNode | undefined): boolean {
  if (node.op === "literal") {
    const inLogic = parent?.op === "and" || parent?.op === "or" || parent?.op === "not";
    return inLogic && typeof node.value === "boolean";
  }
  return node.op !== "list" && isConstant(node);
}

/** Caches the answer per node. */
const constant = new WeakMap<ConditionNode, boolean>();

function isConstant(node: ConditionNode): boolean {
  let answer = constant.get(node);
  if (answer === undefined) {
    answer = node.op !== "attribute" && childrenOf(node).every(isConstant);
    constant.set(node, answer);
  }
  return answer;
}
