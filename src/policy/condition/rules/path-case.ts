import { childrenOf, type ConditionNode } from "../ast.ts";
import { shortened, warningAt, type Finding } from "../finding.ts";
import { formatCondition } from "../format.ts";
import type { Rule } from "../types.ts";

/**
 * A rule for `/admin` also catches `/Admin`, which many applications take for it. A condition that keeps `/admin` from being
 * permitted does not.
 */
export const pathCase: Rule = (node, { opensWhen }, parent) =>
  opensWhen === undefined || parent !== undefined ? [] : comparedPaths(node, opensWhen);

/** @param opens - the verdict of `node` that gives access */
function comparedPaths(node: ConditionNode, opens: boolean): readonly Finding[] {
  switch (node.op) {
    case "and":
    case "or":
      return node.args.flatMap((arg) => comparedPaths(arg, opens));
    case "not":
      return comparedPaths(node.arg, !opens);
    case "!=":
      return opens ? finding(node) : [];
    case "==":
    case "in":
    case "startsWith":
    case "endsWith":
      return opens ? [] : finding(node);
    default:
      return [];
  }
}

function finding(node: ConditionNode): readonly Finding[] {
  const parts = childrenOf(node).flatMap((child) => (child.op === "list" ? child.items : [child]));
  const [literal] = parts.flatMap((part) =>
    part.op === "literal" && /[a-z]/i.test(part.text) ? [part.text] : [],
  );
  if (literal === undefined || !parts.some(isPath)) return [];
  const message = `\`${shortened(formatCondition(node), 60)}\` compares letter case, and an application may not`;
  const hint = "write a rule for that path: one that differs in letter case is refused";
  return [warningAt(node, "path-case", message, hint)];
}

function isPath(node: ConditionNode): boolean {
  return node.op === "attribute" && node.path.length === 2 && node.path.join(".") === "request.path";
}
