import { parseCondition, type ConditionNode } from "../condition/index.ts";
import { reportWithin } from "../syntax/report-within.ts";
import type { Reporter } from "../diagnostics/reporter.ts";
import type { ConditionSource } from "./policy-source.ts";
import { wrongType, type Fields } from "./reader.ts";

/**
 * Placeholder for a condition that cannot be parsed. The set is then not compiled; if it were, this would permit
 * nobody.
 */
const NEVER: ConditionNode = { op: "literal", value: false, text: "false", start: 0, end: 5 };

/** @returns the `condition` of a rule; mistakes in it are reported at their positions in the file */
export function readCondition(report: Reporter, fields: Fields): ConditionSource | undefined {
  const node = fields.require("condition");
  if (node === undefined) return undefined;
  if (node.kind !== "scalar" || (typeof node.value !== "string" && typeof node.value !== "boolean")) {
    wrongType(report, node, "`condition`", "text");
    return undefined;
  }
  const text = typeof node.value === "boolean" ? String(node.value) : node.text;
  const { ast, findings } = parseCondition(text);
  for (const finding of findings) reportWithin(report, node, finding);
  return { node, text, ast: ast ?? NEVER, broken: ast === undefined };
}
