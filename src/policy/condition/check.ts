import { childrenOf, type ConditionNode } from "./ast.ts";
import { arrange, type Finding } from "./finding.ts";
import { RULES } from "./rules/index.ts";
import type { ConditionContext } from "./types.ts";

export type { ConditionContext } from "./types.ts";

/**
 * Looks for what is certain to be wrong with a condition whatever the request is.
 *
 * @returns errors and warnings, in order of position
 */
export function checkCondition(ast: ConditionNode, context: ConditionContext): Finding[] {
  const findings: Finding[] = [];
  const visit = (node: ConditionNode, parent: ConditionNode | undefined): void => {
    for (const rule of RULES) {
      for (const finding of rule(node, context, parent)) findings.push(finding);
    }
    for (const child of childrenOf(node)) visit(child, node);
  };
  visit(ast, undefined);
  return arrange(findings);
}
