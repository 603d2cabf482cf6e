import { nearestHint, quoted } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import type { ConditionCheck } from "../types.ts";

/** `args.x` needs an argument `x` of the rule's field, if the schema is known. */
export const fieldArguments: ConditionCheck = (node, { fieldArguments: known }) => {
  if (node.op !== "attribute" || known === undefined) return [];
  const [root, name] = node.path;
  if (root !== "args" || name === undefined || known.includes(name)) return [];
  const hint = known.length === 0 ? "the field has no arguments" : nearestHint(name, known);
  return [
    errorAt(node, "unknown-attribute", `the field has no argument ${quoted(name)} in the schema`, hint),
  ];
};
