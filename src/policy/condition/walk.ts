import type { Expression } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";
import { CHILDREN } from "./operators.ts";

/** The members that contain children, last one first. */
const KEYS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(CHILDREN).map(([op, children]) => [op, Object.keys(children).reverse()]),
);

type Members = Readonly<Record<string, Expression | readonly Expression[] | undefined>>;

/** @returns the direct children of `node`, in evaluation order */
export function childrenOf(node: ConditionNode): readonly ConditionNode[];
export function childrenOf(expression: Expression): readonly Expression[];
export function childrenOf(expression: Expression): readonly Expression[] {
  const children: Expression[] = [];
  pushChildren(expression, children);
  return children.reverse();
}

/**
 * Visits `root` and everything below it in source order, each node before its children. Not recursive, because the
 * depth of IR is not limited.
 */
export function visit(root: ConditionNode, enter: (node: ConditionNode) => void): void;
export function visit(root: Expression, enter: (node: Expression) => void): void;
export function visit<Node extends Expression>(root: Node, enter: (node: Node) => void): void {
  const ahead: Expression[] = [root];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    enter(node as Node);
    pushChildren(node, ahead);
  }
}

/** Pushes the children of an expression, the first one on top. An operator of a later version has none. */
function pushChildren(expression: Expression, stack: Expression[]): void {
  const members = expression as unknown as Members;
  for (const key of KEYS.get(expression.op) ?? []) {
    const member = members[key];
    if (member === undefined) continue;
    if ("op" in member) stack.push(member);
    else for (const child of member.toReversed()) stack.push(child);
  }
}
