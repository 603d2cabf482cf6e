import type { ConditionNode } from "./ast.ts";
import { childrenOf } from "./walk.ts";

/** A node of a condition below `and`, `or` and `not`, and the verdict of it that gives access; `undefined`: either may. */
export interface Part {
  readonly node: ConditionNode;
  readonly opens: boolean | undefined;
}

/** @returns the parts of `node`; `(..) == false` is what it compares, negated. */
export function partsOf(node: ConditionNode, opens: boolean | undefined): readonly Part[] {
  if (node.op === "and" || node.op === "or") return node.args.flatMap((arg) => partsOf(arg, opens));
  if (node.op === "not") return partsOf(node.arg, flippedIf(true, opens));
  const truth = comparedWithTruth(node);
  if (truth !== undefined) return partsOf(truth.node, flippedIf(!truth.is, opens));
  return [{ node, opens }, ...childrenOf(node).flatMap((child) => partsOf(child, undefined))];
}

/** `not` is true where its part is false. */
export function flippedIf(negated: boolean, opens: boolean | undefined): boolean | undefined {
  return opens === undefined || !negated ? opens : !opens;
}

/** What is compared with `true` or `false`, and what it has to be. */
export function comparedWithTruth(
  node: ConditionNode,
): { readonly node: ConditionNode; readonly is: boolean } | undefined {
  if (node.op !== "==" && node.op !== "!=") return undefined;
  for (const [side, other] of [
    [node.left, node.right],
    [node.right, node.left],
  ] as const) {
    if (other.op === "literal" && typeof other.value === "boolean")
      return { node: side, is: other.value === (node.op === "==") };
  }
  return undefined;
}
