import type { ConditionNode, LogicalNode } from "../condition/ast.ts";
import { clip } from "../../text/index.ts";
import { contradictoryTerms } from "./contradictory-terms.ts";
import { Effort } from "./effort.ts";
import { findAttributes } from "./find-attributes.ts";
import { textDomains } from "./request-domains.ts";
import { FALSE, TRUE, UNKNOWN } from "./verdicts.ts";
import type { Expression } from "../ir.ts";
import { expressionOf } from "../condition/compile.ts";
import { errorAt, warningAt, type ConditionFinding } from "../condition/finding.ts";
import { formatCondition } from "../condition/format.ts";
import { flippedIf } from "../condition/logic.ts";
import { isTest } from "../condition/operators.ts";
import type { ConditionCheck } from "../condition/types.ts";
import { childrenOf, visit } from "../condition/walk.ts";

/** A part of a chain of `and` or `or`: the node, or its opposite if `negated`. */
interface Term {
  readonly node: ConditionNode;
  readonly negated: boolean;
}

/** What the search may cost for each condition, and the number of nodes beyond which a part is left out. */
const EFFORT = 10_000;
const MAX_NODES = 200;
const DOMAINS = textDomains();

/**
 * Parts of `and` that are never true together, and parts of `or` of which one is always true. It is an error where that
 * grants access: `user.role != "a" or user.role != "b"` lets in everybody who has a role.
 *
 * @param whole - what the search may cost for all conditions together
 */
export function contradictoryParts(whole: Effort): ConditionCheck {
  return (node, { opensWhen }, parent) =>
    parent === undefined ? inside(node, opensWhen, new Effort(EFFORT, whole)) : [];
}

/** @param opens - the verdict of `node` that grants access; `undefined` if either may, or it is not known */
function inside(
  node: ConditionNode,
  opens: boolean | undefined,
  effort: Effort,
): readonly ConditionFinding[] {
  if (node.op === "not") return inside(node.arg, flippedIf(true, opens), effort);
  if (node.op !== "and" && node.op !== "or") {
    return [
      ...impossible(node, effort),
      ...childrenOf(node).flatMap((child) => inside(child, undefined, effort)),
    ];
  }
  const terms = termsOf(node, node.op, false);
  const small = terms.filter((term) => isSmall(term.node));
  const own = contradictoryTerms(node.op, small.map(expressionOfTerm), DOMAINS, effort).map((indices) =>
    report(
      node,
      indices.flatMap((index) => small[index] ?? []),
      opens,
    ),
  );
  const below = terms.map((term) => inside(term.node, flippedIf(term.negated, opens), effort));
  return [...own, ...below.flat()];
}

/** @returns the parts of a chain; `not (a or b)` in a chain of `and` gives two parts, both negated */
function termsOf(node: ConditionNode, op: "and" | "or", negated: boolean): readonly Term[] {
  if (node.op === "not") return termsOf(node.arg, op, !negated);
  if ((node.op === "and" || node.op === "or") && (node.op === op) !== negated) {
    return node.args.flatMap((arg) => termsOf(arg, op, negated));
  }
  return [{ node, negated }];
}

function expressionOfTerm({ node, negated }: Term): Expression {
  const expression = expressionOf(node);
  return negated ? { op: "not", arg: expression } : expression;
}

function isSmall(node: ConditionNode): boolean {
  let nodes = 0;
  visit(node, () => nodes++);
  return nodes <= MAX_NODES;
}

function report(chain: LogicalNode, terms: readonly Term[], opens: boolean | undefined): ConditionFinding {
  const [last] = terms.slice(-1);
  const texts = terms.map((term) => `\`${textOf(term)}\``);
  const all = `${texts.slice(0, -1).join(", ")} and ${texts.at(-1) ?? ""}`;
  const equality = terms.every(({ node }) => node.op === "==" || node.op === "!=");
  const [code, message, hint] =
    chain.op === "and"
      ? ([
          "contradiction",
          `${all} cannot ${terms.length === 2 ? "both" : "all"} be true`,
          "write `or`, or `in [..]`",
        ] as const)
      : (["always-true", `one of ${all} is always true`, "write `and`, or `not in [..]`"] as const);
  const at = opens === (chain.op === "or") ? errorAt : warningAt;
  return at(last?.node ?? chain, code, message, equality ? hint : undefined);
}

/** A comparison of an attribute with few possible values that gives the same verdict for all of them. */
function impossible(node: ConditionNode, effort: Effort): readonly ConditionFinding[] {
  if (!isTest(node) && node.op !== "in") return [];
  const children = childrenOf(node);
  const [attribute] = children.filter((child) => child.op === "attribute");
  const domain = attribute?.op === "attribute" ? DOMAINS.of(attribute.path) : undefined;
  if (attribute === undefined || domain?.kind !== "values") return [];
  const values = domain.values.filter((value) => typeof value === "string" || typeof value === "number");
  const plain = (child: ConditionNode): boolean =>
    child === attribute ||
    (child.op === "literal" && typeof child.value === typeof values[0]) ||
    (child.op === "list" && child.items.every(plain));
  if (!children.every(plain) || !isSmall(node)) return [];
  const expression = expressionOf(node);
  const possible = [TRUE, FALSE, UNKNOWN].filter(
    (verdicts) => findAttributes([{ expression, verdicts }], DOMAINS, effort).kind !== "none",
  );
  const [verdict] = possible;
  if (possible.length > 1 || verdict === UNKNOWN) return [];
  const message = `\`${clip(formatCondition(node), 60)}\` is always ${String(verdict === TRUE)}`;
  const list = values.length > 12 ? `${String(values[0])} to ${String(values.at(-1))}` : values.join(", ");
  return [
    warningAt(
      node,
      "constant-part",
      message,
      `possible values of \`${formatCondition(attribute)}\`: ${list}`,
    ),
  ];
}

function textOf({ node, negated }: Term): string {
  const text = clip(formatCondition(node), 60);
  return negated ? `not ${node.op === "attribute" || node.op === "exists" ? text : `(${text})`}` : text;
}
