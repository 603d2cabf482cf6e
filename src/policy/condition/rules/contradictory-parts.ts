import type { ConditionNode, LogicalNode } from "../ast.ts";
import { clip } from "../../../text/index.ts";
import { contradictions, fullBudget, type Budget, type Term } from "../contradictions.ts";
import { evaluate } from "../evaluate.ts";
import { errorAt, warningAt, type ConditionFinding } from "../finding.ts";
import { formatCondition } from "../format.ts";
import { flippedIf } from "../logic.ts";
import { isTest, TESTS } from "../operators.ts";
import { domainOf, samplesFor } from "../samples.ts";
import type { ConditionCheck } from "../types.ts";
import { childrenOf } from "../walk.ts";

/**
 * Parts of `and` that are never true together, and parts of `or` of which one is always true. It is an error where that
 * grants access: `user.role != "a" or user.role != "b"` lets in everybody who has a role.
 */
export const contradictoryParts: ConditionCheck = (node, { opensWhen }, parent) =>
  parent === undefined ? inside(node, opensWhen, fullBudget()) : [];

/** @param opens - the verdict of `node` that grants access; `undefined` if either may, or it is not known */
function inside(
  node: ConditionNode,
  opens: boolean | undefined,
  budget: Budget,
): readonly ConditionFinding[] {
  if (node.op === "not") return inside(node.arg, flippedIf(true, opens), budget);
  if (node.op !== "and" && node.op !== "or") {
    return [...impossible(node), ...childrenOf(node).flatMap((child) => inside(child, undefined, budget))];
  }
  const terms = termsOf(node, node.op, false);
  const own = contradictions(node.op, terms, budget).map(({ earlier, later }) =>
    report(node, earlier, later, opens),
  );
  const below = terms.map((term) => inside(term.node, flippedIf(term.negated, opens), budget));
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

function report(
  chain: LogicalNode,
  earlier: Term,
  later: Term,
  opens: boolean | undefined,
): ConditionFinding {
  const [one, other] = [textOf(earlier), textOf(later)];
  const equality = [earlier, later].every(({ node }) => node.op === "==" || node.op === "!=");
  const [code, message, hint] =
    chain.op === "and"
      ? ([
          "contradiction",
          `\`${one}\` and \`${other}\` cannot both be true`,
          "write `or`, or `in [..]`",
        ] as const)
      : ([
          "always-true",
          `one of \`${one}\` and \`${other}\` is always true`,
          "write `and`, or `not in [..]`",
        ] as const);
  const at = opens === (chain.op === "or") ? errorAt : warningAt;
  return at(later.node, code, message, equality ? hint : undefined);
}

/** A comparison of an attribute with few possible values that gives the same verdict for all of them. */
function impossible(node: ConditionNode): readonly ConditionFinding[] {
  const isSampled = isTest(node) ? TESTS[node.op].sampled === "either" : node.op === "in";
  if (!isSampled) return [];
  const children = childrenOf(node);
  const [attribute] = children.filter((child) => child.op === "attribute");
  const values = attribute?.op === "attribute" ? domainOf(attribute.path) : undefined;
  const plain = (child: ConditionNode): boolean =>
    child === attribute ||
    (child.op === "literal" && typeof child.value === typeof values?.[0]) ||
    (child.op === "list" && child.items.every(plain));
  if (attribute?.op !== "attribute" || values === undefined || !children.every(plain)) return [];
  const verdicts = new Set(samplesFor(attribute.path, attribute.path, []).map((one) => evaluate(node, one)));
  const [verdict] = verdicts;
  if (verdicts.size > 1 || verdict === undefined) return [];
  const message = `\`${clip(formatCondition(node), 60)}\` is always ${String(verdict)}`;
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
