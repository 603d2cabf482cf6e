import type { AttributeNode, ConditionNode } from "./ast.ts";
import { arrange, errorAt, type ConditionFinding } from "./finding.ts";
import { quoted } from "../../text/index.ts";
import { formatPath } from "./format.ts";
import { RULES } from "./rules/index.ts";
import { knownMembers } from "./rules/known-members.ts";
import { typeName, typeOf, type ConditionCheck, type ConditionContext } from "./types.ts";
import { childrenOf } from "./walk.ts";

export type { ConditionContext } from "./types.ts";

/**
 * Looks for mistakes in a condition that hold for every request.
 *
 * @param more - checks besides those of this folder
 * @returns errors and warnings, in order of position
 */
export function checkCondition(
  ast: ConditionNode,
  context: ConditionContext,
  more: readonly ConditionCheck[] = [],
): ConditionFinding[] {
  const findings: ConditionFinding[] = [];
  const rules = [...RULES, ...more];
  const check = (node: ConditionNode, parent: ConditionNode | undefined): void => {
    for (const rule of rules) {
      for (const finding of rule(node, context, parent)) findings.push(finding);
    }
    for (const child of childrenOf(node)) check(child, node);
  };
  check(ast, undefined);
  return arrange(findings);
}

/** Looks for mistakes in the key attribute of a look-up. */
export function checkKey(key: AttributeNode, context: ConditionContext): readonly ConditionFinding[] {
  const findings = knownMembers(key, context, undefined);
  const type = typeOf(key, context);
  if (findings.length > 0 || type === undefined || type === "string" || type === "number") return findings;
  const message = `${quoted(formatPath(key.path))} is ${typeName(type)} and cannot be a look-up key`;
  return [errorAt(key, "type-mismatch", message, "a key must be a string or a number")];
}
