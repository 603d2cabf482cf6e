import type { ConditionNode } from "../ast.ts";
import { errorAt, shortened, warningAt, type Finding } from "../finding.ts";
import { formatPath } from "../format.ts";
import { partsOf } from "../parts.ts";
import type { Rule } from "../types.ts";

type Op = ConditionNode["op"];

interface Spelling {
  /** Whether no value of the attribute is `text`, begins with it or ends with it. */
  readonly isOther: (text: string, op: Op) => boolean;
  /** What the attribute is like. */
  readonly is: string;
  readonly of: (text: string, op: Op) => string;
}

const LOWER: Spelling = {
  isOther: (text) => /[A-Z]/.test(text),
  is: "in lower case",
  of: (text) => text.toLowerCase(),
};
const UPPER: Spelling = {
  isOther: (text) => /[a-z]/.test(text),
  is: "in upper case",
  of: (text) => text.toUpperCase(),
};
/** A name or an IPv4 address, or an IPv6 address in brackets. */
const HOST: Spelling = {
  isOther: (text, op) =>
    /[^a-z0-9_.:[\]-]/.test(text) ||
    (op !== "endsWith" && /^[^[]*:|\]./s.test(text)) ||
    (op !== "startsWith" && /:[^:\]]*$|\.$/.test(text)),
  is: "an ASCII name or an address in lower case, without port and final dot",
  of: (text, op) => {
    const name = text.toLowerCase().replace(/:[0-9]*$/, "");
    return op === "startsWith" ? name : name.replace(/\.$/, "");
  },
};

/** What requests have in one spelling alone. */
const SPELLINGS: ReadonlyMap<string, Spelling> = new Map([
  ["request.method", UPPER],
  ["request.host", HOST],
  ["request.scheme", LOWER],
  ["request.protocol", UPPER],
]);

/** `request.method != "delete"` is true of every request. Only what gives access so is an error. */
export const canonicalSpelling: Rule = (node, { opensWhen }, parent) =>
  parent !== undefined
    ? []
    : partsOf(node, opensWhen).flatMap((part) =>
        // a comparison that is never true gives access where its opposite does
        comparedIn(part.node, part.opens === (part.node.op === "!=") ? errorAt : warningAt),
      );

function comparedIn(node: ConditionNode, at: typeof errorAt): readonly Finding[] {
  switch (node.op) {
    case "==":
    case "!=":
      return [...compared(node, node.left, node.right, at), ...compared(node, node.right, node.left, at)];
    case "startsWith":
    case "endsWith":
      return compared(node, node.target, node.arg, at);
    case "in":
      return node.list.op === "list"
        ? node.list.items.flatMap((item) => compared(node, node.value, item, at))
        : [];
    default:
      return [];
  }
}

function compared(
  { op }: ConditionNode,
  attribute: ConditionNode,
  literal: ConditionNode,
  at: typeof errorAt,
): readonly Finding[] {
  if (attribute.op !== "attribute" || literal.op !== "literal" || typeof literal.value !== "string")
    return [];
  const name = formatPath(attribute.path);
  const spelling = SPELLINGS.get(name);
  if (spelling?.isOther(literal.value, op) !== true) return [];
  const message = `\`${name}\` is ${spelling.is}, and never \`${shortened(literal.text, 40)}\``;
  const right = spelling.of(literal.value, op);
  const hint =
    right === "" || spelling.isOther(right, op)
      ? undefined
      : `write \`${shortened(JSON.stringify(right), 40)}\``;
  return [at(literal, "never-equal", message, hint)];
}
