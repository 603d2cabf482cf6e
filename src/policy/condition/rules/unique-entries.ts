import { warningAt, type ConditionFinding } from "../finding.ts";
import { quoted } from "../../../text/index.ts";
import { formatCondition } from "../format.ts";
import type { ConditionCheck } from "../types.ts";

/** The same entry twice in a list is one too many, and often a slip. */
export const uniqueEntries: ConditionCheck = (node) => {
  if (node.op !== "list") return [];
  const seen = new Set<string>();
  const findings: ConditionFinding[] = [];
  for (const item of node.items) {
    const text = formatCondition(item);
    if (seen.has(text))
      findings.push(warningAt(item, "duplicate-entry", `${quoted(text)} stands in the list twice`));
    seen.add(text);
  }
  return findings;
};
