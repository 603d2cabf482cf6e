import { nearestHint, quoted } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import type { ConditionCheck } from "../types.ts";

/** An attribute path must start at a root that conditions of this section can read. */
export const knownRoots: ConditionCheck = (node, { roots }) => {
  if (node.op !== "attribute") return [];
  const [root = ""] = node.path;
  if (roots.includes(root)) return [];
  return [
    errorAt(node, "unknown-root", `no attribute ${quoted(root)} is available here`, nearestHint(root, roots)),
  ];
};
