import type { PathRuleIR, SegmentIR } from "../ir.ts";
import { foldCase } from "./fold.ts";

/** Anything with a path pattern, which a request's path can match. */
export type Matchable = Pick<PathRuleIR, "section" | "method" | "segments">;

/** The result of matching a request's method and path. */
export type Match<Rule extends Matchable = PathRuleIR> =
  | { readonly kind: "rule"; readonly rule: Rule; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "none" }
  /** The path differs from a rule's only in letter case. A framework that ignores case would treat them as equal. */
  | { readonly kind: "case"; readonly rule: Rule };

export interface Matcher<Rule extends Matchable = PathRuleIR> {
  /** All rules in the matcher. */
  readonly rules: readonly Rule[];
  /**
   * Finds the rule that decides: the most specific one. Segment by segment, a literal comes before `{param}`, `*` and
   * the rest; then the exact method before `*`, and `policies` before `web_policies`.
   *
   * @param method - as received
   * @param segments - decoded, without the empty one of a trailing slash
   */
  match(method: string, segments: readonly string[]): Match<Rule>;
}

export interface MatcherOptions {
  /** Paths that differ only in letter case are different resources. Default false. */
  readonly caseSensitive?: boolean;
}

/** A node of the segment tree. Literals are folded: spellings that differ in letter case share a branch. */
interface Node<Rule> {
  literals: Map<string, Node<Rule>> | undefined;
  param: Node<Rule> | undefined;
  any: Node<Rule> | undefined;
  /** Rules whose pattern ends here with `/**`. */
  rest: Leaf<Rule> | undefined;
  /** Rules whose pattern ends here. */
  leaf: Leaf<Rule> | undefined;
}

/** Rules of one pattern. Rules in the same slot differ only in the letter case of their paths. */
interface Leaf<Rule> {
  readonly methods: Map<string, Rule[]>;
  /** Rules of `policies` for every method. */
  readonly every: Rule[];
  readonly web: Rule[];
}

const NONE = { kind: "none" } as const;

/**
 * Builds the segment tree of a set's path rules. Matching time depends on the number of path segments, not of rules.
 */
export function createMatcher<Rule extends Matchable>(
  ir: { readonly rules: readonly Rule[] },
  options: MatcherOptions = {},
): Matcher<Rule> {
  const fold = options.caseSensitive === true ? (segment: string) => segment : foldCase;
  const root = node<Rule>();
  for (const rule of ir.rules) add(root, rule, fold);

  return {
    rules: ir.rules,
    match(method, segments) {
      const found = search(root, method, segments, 0, fold);
      const first = found?.[0];
      if (found === undefined || first === undefined) return NONE;
      const rule = found.find((candidate) => isSpelled(candidate, segments));
      return rule === undefined
        ? { kind: "case", rule: first }
        : { kind: "rule", rule, params: paramsOf(rule, segments) };
    },
  };
}

/** @returns the parameters of a rule whose pattern matches the segments; the object has a null prototype */
export function paramsOf(
  rule: { readonly segments: readonly SegmentIR[] },
  segments: readonly string[],
): Record<string, string> {
  const params = Object.create(null) as Record<string, string>;
  for (const [index, segment] of rule.segments.entries()) {
    if (segment.kind === "param") params[segment.name] = segments[index] ?? "";
  }
  return params;
}

/**
 * Depth first, most specific branch first. In a tree there is one way to each node, so none is visited twice.
 *
 * @returns the rules of the first pattern found, all of one method; several if they differ only in letter case
 */
function search<Rule>(
  at: Node<Rule>,
  method: string,
  segments: readonly string[],
  index: number,
  fold: (segment: string) => string,
): Rule[] | undefined {
  const segment = segments[index];
  if (segment === undefined) return rulesFor(at.leaf, method) ?? rulesFor(at.rest, method);
  const literal = at.literals?.get(fold(segment));
  return (
    (literal && search(literal, method, segments, index + 1, fold)) ??
    (at.param && search(at.param, method, segments, index + 1, fold)) ??
    (at.any && search(at.any, method, segments, index + 1, fold)) ??
    rulesFor(at.rest, method)
  );
}

/** RFC 9110 section 9.3.2: HEAD is GET without the content. */
function rulesFor<Rule>(leaf: Leaf<Rule> | undefined, method: string): Rule[] | undefined {
  if (leaf === undefined) return undefined;
  const exact = leaf.methods.get(method) ?? (method === "HEAD" ? leaf.methods.get("GET") : undefined);
  if (exact !== undefined) return exact;
  const wildcard = leaf.every.length > 0 ? leaf.every : leaf.web;
  return wildcard.length > 0 ? wildcard : undefined;
}

function isSpelled(rule: Matchable, segments: readonly string[]): boolean {
  return rule.segments.every(
    (segment, index) => segment.kind !== "literal" || segment.value === segments[index],
  );
}

function add<Rule extends Matchable>(root: Node<Rule>, rule: Rule, fold: (segment: string) => string): void {
  let at = root;
  for (const segment of rule.segments) {
    switch (segment.kind) {
      case "literal": {
        const key = fold(segment.value);
        const literals = (at.literals ??= new Map<string, Node<Rule>>());
        const next: Node<Rule> = literals.get(key) ?? node();
        literals.set(key, next);
        at = next;
        break;
      }
      case "param":
      case "any":
        at = at[segment.kind] ??= node();
        break;
      case "rest":
        addTo((at.rest ??= emptyLeaf()), rule);
        return;
    }
  }
  addTo((at.leaf ??= emptyLeaf()), rule);
}

function addTo<Rule extends Matchable>(leaf: Leaf<Rule>, rule: Rule): void {
  if (rule.section === "web_policies") leaf.web.push(rule);
  else if (rule.method === "*") leaf.every.push(rule);
  else leaf.methods.set(rule.method, [...(leaf.methods.get(rule.method) ?? []), rule]);
}

function node<Rule>(): Node<Rule> {
  return { literals: undefined, param: undefined, any: undefined, rest: undefined, leaf: undefined };
}

function emptyLeaf<Rule>(): Leaf<Rule> {
  return { methods: new Map(), every: [], web: [] };
}
