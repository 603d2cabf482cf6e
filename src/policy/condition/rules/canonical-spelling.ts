import type { ConditionNode } from "../ast.ts";
import { errorAt, shortened, warningAt, type Finding } from "../finding.ts";
import { formatPath } from "../format.ts";
import type { Rule } from "../types.ts";

interface Spelling {
  readonly other: RegExp;
  readonly name: string;
  readonly of: (text: string) => string;
}

const LOWER: Spelling = { other: /[A-Z]/, name: "lower", of: (text) => text.toLowerCase() };
const UPPER: Spelling = { other: /[a-z]/, name: "upper", of: (text) => text.toUpperCase() };

/** What requests have in one letter case alone. */
const SPELLINGS: ReadonlyMap<string, Spelling> = new Map([
  ["request.method", UPPER],
  ["request.host", LOWER],
  ["request.scheme", LOWER],
]);

/** `request.method != "delete"` is true of every request, and `request.headers.host` is there in none. */
export const canonicalSpelling: Rule = (node) => {
  switch (node.op) {
    case "==":
    case "!=":
      return [...compared(node.left, node.right), ...compared(node.right, node.left)];
    case "startsWith":
    case "endsWith":
      return compared(node.target, node.arg);
    case "in":
      return node.list.op === "list" ? node.list.items.flatMap((item) => compared(node.value, item)) : [];
    case "attribute":
      return absentHeader(node);
    default:
      return [];
  }
};

function compared(attribute: ConditionNode, literal: ConditionNode): readonly Finding[] {
  if (attribute.op !== "attribute" || literal.op !== "literal" || typeof literal.value !== "string")
    return [];
  const name = formatPath(attribute.path);
  const spelling = SPELLINGS.get(name);
  if (spelling?.other.test(literal.value) !== true) return [];
  const message = `\`${name}\` is in ${spelling.name} case, and never \`${shortened(literal.text, 40)}\``;
  return [errorAt(literal, "never-equal", message, `write \`${shortened(spelling.of(literal.text), 40)}\``)];
}

/** Over HTTP/2 there is no such header, and so it is an attribute of its own. */
function absentHeader({ path, ...span }: ConditionNode & { readonly op: "attribute" }): readonly Finding[] {
  const [root, member, name] = path;
  if (root !== "request" || member !== "headers" || name?.toLowerCase() !== "host") return [];
  const message = `\`${formatPath(path)}\` is there in no request`;
  return [warningAt(span, "absent-header", message, "write `request.host`, which every request has")];
}
