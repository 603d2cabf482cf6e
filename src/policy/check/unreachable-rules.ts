import { quoted } from "../../text/index.ts";
import { placeName } from "../diagnostics/reporter.ts";
import type { SegmentIR } from "../ir.ts";
import type { PathRuleSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { placeOf } from "../syntax/place-of.ts";

/** The matcher's tree of patterns, with the rules that end at each node. */
interface PatternNode {
  readonly literals: Map<string, PatternNode>;
  param?: PatternNode;
  any?: PatternNode;
  rest: PathRuleSource[];
  rules: PathRuleSource[];
}

/**
 * A rule is unreachable if another rule is found first for every request that it matches. More specific patterns are
 * found first, so only a `{name}` in place of this rule's `*`, or the same path in `policies`, can hide it. This is an
 * error because a rule other than the one the author expects decides these requests.
 */
export const unreachableRules: PolicySetCheck = (set, report) => {
  const root = patternNode();
  for (const rule of set.rules) add(root, rule);
  for (const rule of set.rules) {
    if (rule.section === "policies") continue; // without `*` for one segment, no equally specific pattern is wider
    const hiding = findHiding(root, rule, 0, false);
    if (hiding === undefined) continue;
    const { method, text, node } = hiding.pattern;
    const other = quoted(hiding.section === "policies" ? `${method} ${text}` : text);
    const message = `${quoted(rule.pattern.text)} is unreachable: ${other} at ${placeName(placeOf(node))} matches first`;
    report.error(placeOf(rule.pattern.node), "unreachable-rule", message);
  }
};

/**
 * @param ahead - true if the path so far is found before `rule` and covers it
 * @returns a rule that is found before `rule` for every request that `rule` matches
 */
function findHiding(
  node: PatternNode,
  rule: PathRuleSource,
  index: number,
  ahead: boolean,
): PathRuleSource | undefined {
  const segment = rule.pattern.segments[index];
  const hides = (other: PathRuleSource) =>
    other.pattern.method === "*" && (ahead || other.section === "policies");
  if (ahead || segment?.kind === "rest") {
    const found = node.rest.find(hides);
    if (found !== undefined) return found;
  }
  if (segment === undefined) return node.rules.find(hides);
  for (const [next, first] of covering(node, segment, ahead)) {
    const found = next && findHiding(next, rule, index + 1, ahead || first);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * @returns the branches that match everything `segment` matches, and whether each is found before the segment's own
 *   branch
 */
function covering(
  node: PatternNode,
  segment: SegmentIR,
  ahead: boolean,
): (readonly [next: PatternNode | undefined, first: boolean])[] {
  switch (segment.kind) {
    case "rest":
      return [];
    case "any":
      return [
        [node.param, true],
        [node.any, false],
      ];
    case "param":
      return ahead
        ? [
            [node.param, false],
            [node.any, false],
          ]
        : [[node.param, false]];
    case "literal": {
      const literal = node.literals.get(segment.value);
      return ahead
        ? [
            [literal, false],
            [node.param, false],
            [node.any, false],
          ]
        : [[literal, false]];
    }
  }
}

function add(root: PatternNode, rule: PathRuleSource): void {
  let node = root;
  for (const segment of rule.pattern.segments) {
    switch (segment.kind) {
      case "rest":
        node.rest.push(rule);
        return;
      case "literal": {
        const next: PatternNode = node.literals.get(segment.value) ?? patternNode();
        node.literals.set(segment.value, next);
        node = next;
        break;
      }
      case "param":
      case "any":
        node = node[segment.kind] ??= patternNode();
    }
  }
  node.rules.push(rule);
}

function patternNode(): PatternNode {
  return { literals: new Map(), rest: [], rules: [] };
}
