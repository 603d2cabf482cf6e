import { clip } from "../../../text/index.ts";
import type { AttributePath } from "../../ir.ts";
import type { ConditionNode } from "../ast.ts";
import { warningAt, type ConditionFinding } from "../finding.ts";
import { formatCondition } from "../format.ts";
import { partsOf } from "../logic.ts";
import { isTest, TESTS } from "../operators.ts";
import type { ConditionCheck } from "../types.ts";
import { childrenOf } from "../walk.ts";

/**
 * A rule for `/admin` also catches `/Admin`, which many applications take for it. A condition that keeps `/admin` from being
 * permitted does not, nor one that keeps `admin` from being permitted as a parameter of the path.
 */
export const pathCase: ConditionCheck = (node, { opensWhen }, parent) =>
  opensWhen === undefined || parent !== undefined
    ? []
    : partsOf(node, opensWhen).flatMap((part) =>
        part.opens === (part.node.op === "!=") ? comparedPath(part.node) : [],
      );

function comparedPath(node: ConditionNode): readonly ConditionFinding[] {
  const spells = node.op === "in" ? "whole" : isTest(node) ? TESTS[node.op].spells : "nothing";
  if (spells === "nothing") return [];
  return finding(node, (path) => isPath(path) || (spells === "whole" && path[0] === "path"));
}

function finding(
  node: ConditionNode,
  isMeant: (path: AttributePath) => boolean,
): readonly ConditionFinding[] {
  const parts = childrenOf(node).flatMap((child) => (child.op === "list" ? child.items : [child]));
  const [literal] = parts.flatMap((part) =>
    part.op === "literal" && /[a-z]/i.test(part.text) ? [part.text] : [],
  );
  if (literal === undefined || !parts.some((part) => part.op === "attribute" && isMeant(part.path)))
    return [];
  const message = `\`${clip(formatCondition(node), 60)}\` compares letter case, and an application may not`;
  const hint = "write a rule for that path: one that differs in letter case is refused";
  return [warningAt(node, "path-case", message, hint)];
}

function isPath(path: AttributePath): boolean {
  return path.length === 2 && path.join(".") === "request.path";
}
