import { clip } from "../../../text/index.ts";
import type { ConditionNode } from "../ast.ts";
import { errorAt, warningAt, type ConditionFinding } from "../finding.ts";
import { formatPath } from "../format.ts";
import { partsOf } from "../logic.ts";
import { isTest, operandsOf, TESTS } from "../operators.ts";
import type { ConditionCheck } from "../types.ts";

/** The part of the attribute that a text is compared with. */
type Extent = "whole" | "start" | "end";

interface Spelling {
  /** Whether no value of the attribute is, starts with or ends with `text`. */
  readonly isOther: (text: string, extent: Extent) => boolean;
  /** The canonical form, for the message. */
  readonly is: string;
  readonly of: (text: string, extent: Extent) => string;
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
  isOther: (text, extent) =>
    /[^a-z0-9_.:[\]-]/.test(text) ||
    (extent !== "end" && /^[^[]*:|\]./s.test(text)) ||
    (extent !== "start" && /:[^:\]]*$|\.$/.test(text)),
  is: "a lower-case ASCII host name or address, without port and trailing dot",
  of: (text, extent) => {
    const name = text.toLowerCase().replace(/:[0-9]*$/, "");
    return extent === "start" ? name : name.replace(/\.$/, "");
  },
};

/** Attributes that have only one spelling in a canonical request. */
const SPELLINGS: ReadonlyMap<string, Spelling> = new Map([
  ["request.method", UPPER],
  ["request.host", HOST],
  ["request.scheme", LOWER],
  ["request.protocol", UPPER],
]);

/** `request.method != "delete"` is true for every request. It is an error only where that grants access. */
export const canonicalSpelling: ConditionCheck = (node, { opensWhen }, parent) =>
  parent !== undefined
    ? []
    : partsOf(node, opensWhen).flatMap((part) =>
        // a comparison that is never true grants access if its opposite does
        comparedIn(part.node, part.opens === (part.node.op === "!=") ? errorAt : warningAt),
      );

function comparedIn(node: ConditionNode, at: typeof errorAt): readonly ConditionFinding[] {
  if (node.op === "in") {
    const { value, list } = node;
    return list.op === "list" ? list.items.flatMap((item) => compared(value, item, "whole", at)) : [];
  }
  if (!isTest(node)) return [];
  const { spells } = TESTS[node.op];
  if (spells === "nothing") return [];
  const [left, right] = operandsOf(node);
  const backwards = spells === "whole" ? compared(right, left, spells, at) : [];
  return [...compared(left, right, spells, at), ...backwards];
}

function compared(
  attribute: ConditionNode,
  literal: ConditionNode,
  extent: Extent,
  at: typeof errorAt,
): readonly ConditionFinding[] {
  if (attribute.op !== "attribute" || literal.op !== "literal" || typeof literal.value !== "string")
    return [];
  const name = formatPath(attribute.path);
  const spelling = SPELLINGS.get(name);
  if (spelling?.isOther(literal.value, extent) !== true) return [];
  const message = `\`${name}\` is ${spelling.is} and never matches \`${clip(literal.text, 40)}\``;
  const right = spelling.of(literal.value, extent);
  const hint =
    right === "" || spelling.isOther(right, extent)
      ? undefined
      : `write \`${clip(JSON.stringify(right), 40)}\``;
  return [at(literal, "never-equal", message, hint)];
}
