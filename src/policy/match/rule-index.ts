import type { SegmentIR } from "../ir.ts";
import { foldCase } from "./fold.ts";

/** A rule found by method and path. All that match apply. */
interface Indexed {
  readonly method: string;
  readonly segments: readonly SegmentIR[];
}

/** Finds every rule that matches a request, not only the one that decides. */
export interface RuleIndex<Rule> {
  /** All rules in the index. */
  readonly rules: readonly Rule[];
  /**
   * @param segments - decoded, without the empty one of a trailing slash
   * @returns the matching rules in the order of the set
   */
  all(method: string, segments: readonly string[]): readonly Rule[];
}

interface Node {
  readonly literals: Map<string, Node>;
  wildcard: Node | undefined;
  /** Positions of rules whose pattern ends here with `/**`, and of rules whose pattern ends here exactly. */
  readonly rest: number[];
  readonly leaf: number[];
}

/**
 * Builds a segment tree of rules that apply whenever they match. Letter case is always ignored: it is safer to apply a
 * masking rule to a path that the application may treat as equal than to skip it.
 */
export function createRuleIndex<Rule extends Indexed>(rules: readonly Rule[]): RuleIndex<Rule> {
  const root = node();
  for (const [position, { segments }] of rules.entries()) add(root, segments, position);

  return {
    rules,
    all(method, segments) {
      if (rules.length === 0) return [];
      const found: number[] = [];
      collect(root, segments.map(foldCase), 0, found);
      return found
        .sort((a, b) => a - b)
        .flatMap((position) => rules[position] ?? [])
        .filter((rule) => isForMethod(rule.method, method));
    },
  };
}

/** RFC 9110 section 9.3.2: HEAD is GET without the content. */
function isForMethod(expected: string, actual: string): boolean {
  return expected === "*" || expected === actual || (expected === "GET" && actual === "HEAD");
}

function add(root: Node, segments: readonly SegmentIR[], position: number): void {
  let at = root;
  for (const segment of segments) {
    if (segment.kind === "rest") {
      at.rest.push(position);
      return;
    }
    at = segment.kind === "literal" ? literalBelow(at, foldCase(segment.value)) : (at.wildcard ??= node());
  }
  at.leaf.push(position);
}

function literalBelow(at: Node, key: string): Node {
  const known = at.literals.get(key);
  if (known !== undefined) return known;
  const fresh = node();
  at.literals.set(key, fresh);
  return fresh;
}

/** In a tree there is one way to each node, so at most as many nodes are visited as the patterns have segments. */
function collect(at: Node, segments: readonly string[], index: number, found: number[]): void {
  found.push(...at.rest);
  const segment = segments[index];
  if (segment === undefined) {
    found.push(...at.leaf);
    return;
  }
  const literal = at.literals.get(segment);
  if (literal !== undefined) collect(literal, segments, index + 1, found);
  if (at.wildcard !== undefined) collect(at.wildcard, segments, index + 1, found);
}

function node(): Node {
  return { literals: new Map(), wildcard: undefined, rest: [], leaf: [] };
}
