import { errorAt, quoted } from "../finding.ts";
import { nearestHint } from "../nearest-name.ts";
import type { Rule } from "../types.ts";

/** An attribute starts at a root that conditions of this section can read. */
export const knownRoots: Rule = (node, { roots }) => {
  if (node.op !== "attribute") return [];
  const [root = ""] = node.path;
  if (roots.includes(root)) return [];
  return [
    errorAt(node, "unknown-root", `there is no attribute ${quoted(root)} here`, nearestHint(root, roots)),
  ];
};
