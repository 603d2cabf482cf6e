import { nearestHint, quoted } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import type { ConditionCheck } from "../types.ts";

/** `path.x` needs an `{x}` in the rule's pattern. */
export const pathParameters: ConditionCheck = (node, { parameters }) => {
  if (node.op !== "attribute" || parameters === undefined) return [];
  const [root, name] = node.path;
  if (root !== "path" || name === undefined || parameters.includes(name)) return [];
  const hint = parameters.length === 0 ? "the pattern has no parameters" : nearestHint(name, parameters);
  return [
    errorAt(node, "unknown-path-parameter", `the pattern has no parameter ${quoted(`{${name}}`)}`, hint),
  ];
};
