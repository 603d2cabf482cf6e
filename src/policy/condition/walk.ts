import type { Expression } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";
import { CHILDREN } from "./operators.ts";

/** The members that hold children, the last one first. */
const KEYS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(CHILDREN).map(([op, children]) => [op, Object.keys(children).reverse()]),
);

type Members = Readonly<Record<string, Expression | readonly Expression[] | undefined>>;

/** @returns what stands directly below `node`, in the order in which it is evaluated. */
export function childrenOf(node: ConditionNode): readonly ConditionNode[];
export function childrenOf(expression: Expression): readonly Expression[];
export function childrenOf(expression: Expression): readonly Expression[] {
  const children: Expression[] = [];
  pushChildren(expression, children);
  return children.reverse();
}

/**
 * Visits `root` and all that stands below it, in the order of the text, each node before its children. Without recursion: the
 * depth of IR is not bounded.
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

/** Puts the children of an expression on a stack, the first one on top; of an operator of a later version, none. */
function pushChildren(expression: Expression, stack: Expression[]): void {
  const members = expression as unknown as Members;
  for (const key of KEYS.get(expression.op) ?? []) {
    const member = members[key];
    if (member === undefined) continue;
    if ("op" in member) stack.push(member);
    else for (const child of member.toReversed()) stack.push(child);
  }
}
