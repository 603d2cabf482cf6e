import { nearestHint, nearestName, quoted } from "../../../text/index.ts";
import type { AttributePath } from "../../ir.ts";
import type { AttributeNode } from "../ast.ts";
import { errorAt, warningAt, type ConditionFinding } from "../finding.ts";
import { formatPath } from "../format.ts";
import { lookUp } from "../shapes.ts";
import { typeName, typeOfPath, type ConditionContext, type ConditionCheck } from "../types.ts";

/** Only objects have members. The known and declared members are all of them, unless the root is declared open. */
export const knownMembers: ConditionCheck = (node, context) => {
  if (node.op !== "attribute") return [];
  return belowValue(node, context) ?? unknownMember(node, context) ?? [];
};

function belowValue(node: AttributeNode, context: ConditionContext): readonly ConditionFinding[] | undefined {
  const { path } = node;
  for (let length = 2; length < path.length; length++) {
    const above = path.slice(0, length);
    const type = typeOfPath(above, context);
    if (type === undefined || type === "object") continue;
    const hint =
      type === "list" ? "to search a list, write `.includes(value)`; its length is not available" : undefined;
    const name = quoted(formatPath(above));
    return [errorAt(node, "no-members", `${name} is ${typeName(type)} and has no members`, hint)];
  }
  return undefined;
}

function unknownMember(
  node: AttributeNode,
  context: ConditionContext,
): readonly ConditionFinding[] | undefined {
  const { unknown } = lookUp(node.path, context);
  if (unknown === undefined) return undefined;
  const { above, name, known, certain } = unknown;
  const what = quoted(formatPath(above));
  const declaration = declarationOf([...above, name]);
  if (certain) {
    const nearest = nearestName(name, known);
    const hint =
      nearest !== undefined || declaration === undefined
        ? nearestHint(name, known)
        : `declare it (${declaration}), or write \`open: true\` there`;
    return [errorAt(node, "unknown-attribute", `${what} has no member ${quoted(name)}`, hint)];
  }
  const nearest = nearestName(name, known);
  if (nearest === undefined) return undefined;
  const message = `${what} has no member ${quoted(name)} unless a claim is mapped to it`;
  const hint = `did you mean \`${nearest}\`? Otherwise declare it: ${declaration ?? ""}`;
  return [warningAt(node, "unknown-attribute", message, hint)];
}

/** What to write in the head of the policy set; nothing for roots whose members cannot be declared. */
function declarationOf([root = "", ...names]: AttributePath): string | undefined {
  if (root === "request" || root === "env" || root === "path") return undefined;
  return `\`attributes: { ${root}: { types: { ${names.join(".")}: string } } }\``;
}
