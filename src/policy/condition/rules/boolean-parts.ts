import { clip } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import { formatCondition } from "../format.ts";
import { typeName, typeOf, type ConditionCheck } from "../types.ts";

/** A condition, and each part of `and`, `or` and `not`, is true or false. */
export const booleanParts: ConditionCheck = (node, context, parent) => {
  const isCondition =
    parent === undefined || parent.op === "and" || parent.op === "or" || parent.op === "not";
  const type = typeOf(node, context);
  if (!isCondition || type === undefined || type === "boolean") return [];
  const text = clip(formatCondition(node), 60);
  const hint =
    parent?.op === "or" && node.op === "literal"
      ? "every part of `or` is a condition of its own; alternatives are written `in [.., ..]`"
      : node.op === "attribute"
        ? "compare it, or ask whether it is there: `exists(..)`"
        : undefined;
  return [errorAt(node, "not-boolean", `\`${text}\` is ${typeName(type)}, neither true nor false`, hint)];
};
