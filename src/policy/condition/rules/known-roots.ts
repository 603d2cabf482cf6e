import { nearestHint, quoted } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import type { ConditionCheck } from "../types.ts";

/** An attribute starts at a root that conditions of this section can read. */
export const knownRoots: ConditionCheck = (node, { roots }) => {
  if (node.op !== "attribute") return [];
  const [root = ""] = node.path;
  if (roots.includes(root)) return [];
  return [
    errorAt(node, "unknown-root", `there is no attribute ${quoted(root)} here`, nearestHint(root, roots)),
  ];
};
