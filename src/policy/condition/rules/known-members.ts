import { errorAt, quoted, warningAt } from "../finding.ts";
import { formatPath } from "../format.ts";
import { nearestHint } from "../nearest-name.ts";
import { REQUEST_MEMBERS, typeName, typeOfPath, type Rule } from "../types.ts";

/** Only objects have members, and those of `request` are known. */
export const knownMembers: Rule = (node, context) => {
  if (node.op !== "attribute") return [];
  const { path } = node;
  for (let length = 2; length < path.length; length++) {
    const above = path.slice(0, length);
    const type = typeOfPath(above, context);
    if (type === undefined || type === "object") continue;
    const hint =
      type === "list" ? "a list is searched by `.includes(value)`, its length cannot be read" : undefined;
    const name = quoted(formatPath(above));
    return [errorAt(node, "no-members", `${name} is ${typeName(type)} and has no members`, hint)];
  }
  const [root, member] = path;
  if (root !== "request" || member === undefined || REQUEST_MEMBERS.has(member)) return [];
  const message = `requests have no ${quoted(member)}`;
  return [warningAt(node, "unknown-attribute", message, nearestHint(member, [...REQUEST_MEMBERS.keys()]))];
};
