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
 * A rule for `/admin` also catches `/Admin`, which many applications treat as the same path. A condition that excludes
 * `/admin`, or `admin` as a path parameter, does not.
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
  const message = `\`${clip(formatCondition(node), 60)}\` is case-sensitive, but the application may not be`;
  const hint =
    "write a rule for that path: requests that differ from it only in letter case are then refused";
  return [warningAt(node, "path-case", message, hint)];
}

function isPath(path: AttributePath): boolean {
  return path.length === 2 && path.join(".") === "request.path";
}
