import type { ConditionNode } from "../ast.ts";
import { warningAt, type ConditionFinding } from "../finding.ts";
import { clip, quoted } from "../../../text/index.ts";
import { formatCondition, formatPath } from "../format.ts";
import { partsOf } from "../logic.ts";
import type { ConditionCheck } from "../types.ts";
import { isSentSeveralTimes } from "../values.ts";

/**
 * A query parameter or header may be sent several times. `.includes` is true if any of the values matches, but the
 * application may use another one. It must not grant access.
 */
export const anyValue: ConditionCheck = (node, { opensWhen }, parent) =>
  opensWhen === undefined || parent !== undefined
    ? []
    : partsOf(node, opensWhen).flatMap((part) => (part.opens === false ? [] : searched(part.node)));

function searched(node: ConditionNode): readonly ConditionFinding[] {
  if (node.op !== "in") return [];
  const { list, value } = node;
  if (list.op !== "attribute" || !isSentSeveralTimes(list.path)) return [];
  const name = formatPath(list.path);
  // values from requests are strings
  const one =
    value.op === "literal" && typeof value.value !== "string" ? `"${value.text}"` : formatCondition(value);
  const hint = `write \`${name} == ${clip(one, 60)}\`, which takes exactly one value`;
  const message = `${quoted(name)} may be sent several times, and any one of the values grants access here`;
  return [warningAt(node, "any-value", message, hint)];
}
