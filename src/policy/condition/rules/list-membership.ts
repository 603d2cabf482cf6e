import { errorAt, type ConditionFinding } from "../finding.ts";
import { clip } from "../../../text/index.ts";
import { formatCondition } from "../format.ts";
import { typeName, typeOf, typeOfEntries, typeOfList, type ConditionCheck } from "../types.ts";

/** `in` and `.includes` search a list for one scalar. */
export const listMembership: ConditionCheck = (node, context) => {
  if (node.op !== "in") return [];
  const { value, list, form } = node;
  const findings: ConditionFinding[] = [];
  const listType = typeOfList(list, context);
  if (listType !== undefined && listType !== "list") {
    const text = clip(formatCondition(list), 60);
    const hint =
      listType === "string"
        ? "to compare a string, write `==`, `.startsWith(..)` or `.endsWith(..)`"
        : form === "in"
          ? "write `in [..]`"
          : undefined;
    findings.push(errorAt(list, "not-a-list", `\`${text}\` is ${typeName(listType)}, not a list`, hint));
  }
  const type = typeOf(value, context);
  if (type === "list" || type === "object") {
    const text = clip(formatCondition(value), 60);
    const hint = type === "list" ? "write `.includes(value)` once for each value, joined by `or`" : undefined;
    findings.push(
      errorAt(
        value,
        "type-mismatch",
        `\`${text}\` is ${typeName(type)} and cannot be searched for in a list`,
        hint,
      ),
    );
  } else if (type !== undefined && list.op === "attribute") {
    const entries = typeOfEntries(list, context);
    if (entries !== undefined && entries !== type) {
      const text = clip(formatCondition(value), 60);
      const name = clip(formatCondition(list), 60);
      const hint = value.op === "literal" ? `write \`"${clip(value.text, 40)}"\`` : undefined;
      const message = `\`${text}\` is ${typeName(type)}, but \`${name}\` contains ${entries}s`;
      findings.push(errorAt(value, "type-mismatch", message, hint));
    }
  } else if (list.op === "list") {
    for (const item of list.items) {
      const itemType = typeOf(item, context);
      if (itemType === undefined || itemType === "null") continue;
      const compound = itemType === "list" || itemType === "object";
      if (!compound && (type === undefined || type === "null" || type === itemType)) continue;
      const what = compound || type === undefined ? "a single value" : typeName(type);
      const text = clip(formatCondition(item), 60);
      findings.push(
        errorAt(item, "type-mismatch", `\`${text}\` is ${typeName(itemType)}, but ${what} is searched for`),
      );
    }
  }
  return findings;
};
