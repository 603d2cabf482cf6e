import { warningAt, type ConditionFinding } from "../finding.ts";
import { quoted } from "../../../text/index.ts";
import { formatCondition } from "../format.ts";
import type { ConditionCheck } from "../types.ts";

/** A repeated list entry has no effect and is often a typing error. */
export const uniqueEntries: ConditionCheck = (node) => {
  if (node.op !== "list") return [];
  const seen = new Set<string>();
  const findings: ConditionFinding[] = [];
  for (const item of node.items) {
    const text = formatCondition(item);
    if (seen.has(text))
      findings.push(warningAt(item, "duplicate-entry", `duplicate list entry ${quoted(text)}`));
    seen.add(text);
  }
  return findings;
};
