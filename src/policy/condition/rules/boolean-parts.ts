import { clip } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import { formatCondition } from "../format.ts";
import { typeName, typeOf, type ConditionCheck } from "../types.ts";

/** A condition, and each part of `and`, `or` and `not`, must be true or false. */
export const booleanParts: ConditionCheck = (node, context, parent) => {
  const isCondition =
    parent === undefined || parent.op === "and" || parent.op === "or" || parent.op === "not";
  const type = typeOf(node, context);
  if (!isCondition || type === undefined || type === "boolean") return [];
  const text = clip(formatCondition(node), 60);
  const hint =
    parent?.op === "or" && node.op === "literal"
      ? "each part of `or` must be a complete condition; for alternatives, write `in [.., ..]`"
      : node.op === "attribute"
        ? "compare it, or test for it with `exists(..)`"
        : undefined;
  return [errorAt(node, "not-boolean", `\`${text}\` is ${typeName(type)}, not a condition`, hint)];
};
