import type { SegmentIR } from "../ir.ts";
import { foldCase } from "./fold.ts";

/** What is found by method and path, and of which every one that matches counts. */
interface Indexed {
  readonly method: string;
  readonly segments: readonly SegmentIR[];
}

/** Finds every rule that matches a request, as opposed to the one that decides. */
export interface RuleIndex<Rule> {
  /** All rules it was made of. */
  readonly rules: readonly Rule[];
  /**
   * @param segments - decoded, without the empty one of a trailing slash
   * @returns the rules in the order of the set
   */
  all(method: string, segments: readonly string[]): readonly Rule[];
}

interface Node {
  readonly literals: Map<string, Node>;
  wildcard: Node | undefined;
  /** Positions of rules whose pattern ends here with the rest, and of those whose pattern ends here. */
  readonly rest: number[];
  readonly leaf: number[];
}

/**
 * Builds a segment tree of rules of which all count that match. Letter case never makes a difference: a rule that takes
 * something away is better applied to a path that the application may take for another than not applied.
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

/** Each node has one way to it, so the nodes that are visited are no more than the patterns have segments. */
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
