import { childrenOf, type ConditionNode } from "../ast.ts";
import { quoted, shortened, warningAt, type Finding } from "../finding.ts";
import { formatCondition, formatPath } from "../format.ts";
import type { Rule } from "../types.ts";
import { isSentSeveralTimes } from "../values.ts";

/**
 * A query parameter or header may be sent several times. `.includes` is true where any of the values is the one that is
 * looked for, and the application may use another one: no good ground for access.
 */
export const anyValue: Rule = (node, { opensWhen }, parent) =>
  opensWhen === undefined || parent !== undefined ? [] : searchedFor(node, opensWhen);

/** @param opens - the verdict of `node` that gives access; `undefined`: either may */
function searchedFor(node: ConditionNode, opens: boolean | undefined): readonly Finding[] {
  switch (node.op) {
    case "and":
    case "or":
      return node.args.flatMap((arg) => searchedFor(arg, opens));
    case "not":
      return searchedFor(node.arg, opens === undefined ? undefined : !opens);
    case "in": {
      const { list, value } = node;
      if (opens === false || list.op !== "attribute" || !isSentSeveralTimes(list.path)) return [];
      const name = formatPath(list.path);
      // what is sent is text
      const one =
        value.op === "literal" && typeof value.value !== "string"
          ? `"${value.text}"`
          : formatCondition(value);
      const hint = `write \`${name} == ${shortened(one, 60)}\`, which takes exactly one value`;
      const message = `${quoted(name)} may be sent several times, and any of its values gives access here`;
      return [warningAt(node, "any-value", message, hint)];
    }
    default:
      return childrenOf(node).flatMap((child) => searchedFor(child, undefined));
  }
}
