import { nearestName } from "../../text/index.ts";
import { explain, firstFailing, type TraceNode } from "../condition/evaluation.ts";
import type { PathRuleIR } from "../ir.ts";
import type { Attributes } from "../value.ts";
import { paramsOf, type Match, type Matcher } from "./matcher.ts";

/** The maximum number of other rules to list. */
export const MAX_NEAR = 5;

/** The attributes for a rule's condition, for a request with these path parameters. */
export type AttributesFor = (rule: PathRuleIR, params: Readonly<Record<string, string>>) => Attributes;

/** Why a request gets its decision. */
export interface MatchExplanation {
  readonly match: Match;
  /** The condition of the rule that decides, part by part. */
  readonly trace?: TraceNode;
  /** Other rules that nearly matched, the closest first. */
  readonly near: readonly NearRule[];
}

export interface NearRule {
  readonly rule: PathRuleIR;
  readonly failing: FailingPart;
}

/** The first thing about a rule that kept it from permitting the request. */
export type FailingPart =
  | { readonly kind: "method"; readonly expected: string; readonly actual: string }
  /** `number` counts segments from 1. A side without that segment is absent. */
  | {
      readonly kind: "segment";
      readonly number: number;
      readonly expected?: string;
      readonly actual?: string;
    }
  | { readonly kind: "condition"; readonly part: TraceNode }
  /** The condition is true, but a more specific rule decides. */
  | { readonly kind: "less-specific" };

/**
 * Tells which rule decides a request and why, and which others nearly matched. Visits every rule of the set: for
 * people, not for the request path.
 */
export function explainMatch(
  matcher: Matcher,
  method: string,
  segments: readonly string[],
  attributesFor: AttributesFor,
): MatchExplanation {
  const match = matcher.match(method, segments);
  const decides = match.kind === "rule" ? match.rule : undefined;
  const near = matcher.rules
    .filter((rule) => rule !== decides)
    .flatMap((rule) => nearness(rule, method, segments) ?? [])
    .sort((a, b) => a.distance - b.distance) // the sort is stable: ties keep the set's order
    .slice(0, MAX_NEAR)
    .map(({ rule, failing }) => ({ rule, failing: failing ?? conditionPart(rule, segments, attributesFor) }));
  if (match.kind !== "rule") return { match, near };
  const { rule, params } = match;
  return { match, trace: explain(rule.condition.expression, attributesFor(rule, params)), near };
}

interface Nearness {
  readonly rule: PathRuleIR;
  /** Absent if the rule matches this request. */
  readonly failing?: FailingPart;
  readonly distance: number;
}

/**
 * @returns the distance between a rule and a request that differ in at most one small thing: the method, a similarly
 *   spelled segment, a missing parameter, or one extra segment. Another resource under the same parent does not count
 *   as near.
 */
function nearness(rule: PathRuleIR, method: string, segments: readonly string[]): Nearness | undefined {
  const fits = rule.method === "*" || rule.method === method || (rule.method === "GET" && method === "HEAD");
  const differing = differences(rule, segments);
  const [first] = differing;
  if (first === undefined) {
    if (fits) return { rule, distance: 0 };
    return { rule, distance: 1, failing: { kind: "method", expected: rule.method, actual: method } };
  }
  if (differing.length > 1 || !fits || !isSlip(rule, first)) return undefined;
  const { expected = "", actual = "" } = first;
  return { rule, distance: 2 + dissimilarity(expected, actual), failing: first };
}

function isSlip({ segments }: PathRuleIR, { number, expected, actual }: SegmentDifference): boolean {
  const pattern = segments[number - 1];
  if (pattern?.kind === "literal" && actual !== undefined) return isAlike(actual, pattern.value);
  if (pattern?.kind === "literal" && expected !== undefined) return false;
  // a rule that shares no name with the request is for another resource
  return segments.some(({ kind }) => kind === "literal");
}

/** Similar names in which at least half of the letters are in place: `a` is not similar to `b`. */
function isAlike(written: string, name: string): boolean {
  return (
    nearestName(written, [name]) !== undefined &&
    dissimilarity(written.toLowerCase(), name.toLowerCase()) <= 0.5
  );
}

type SegmentDifference = Extract<FailingPart, { kind: "segment" }>;

/** @returns the first two places at which a pattern and a path differ. */
function differences(rule: PathRuleIR, segments: readonly string[]): SegmentDifference[] {
  const found: SegmentDifference[] = [];
  const hasRest = rule.segments.at(-1)?.kind === "rest";
  const own = hasRest ? rule.segments.slice(0, -1) : rule.segments;
  const length = hasRest ? own.length : Math.max(own.length, segments.length);
  for (let index = 0; index < length && found.length < 2; index++) {
    const pattern = own[index];
    const actual = segments[index];
    if (pattern !== undefined && actual !== undefined) {
      if (pattern.kind !== "literal" || pattern.value === actual) continue;
    }
    found.push({
      kind: "segment",
      number: index + 1,
      ...(pattern !== undefined && { expected: writtenAs(pattern) }),
      ...(actual !== undefined && { actual }),
    });
  }
  return found;
}

function writtenAs(segment: PathRuleIR["segments"][number]): string {
  switch (segment.kind) {
    case "literal":
      return segment.value;
    case "param":
      return `{${segment.name}}`;
    case "any":
    case "rest":
      return "*";
  }
}

/** @returns 0 for equal texts, up to 1 for texts with no common start or end */
function dissimilarity(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  const shortest = Math.min(a.length, b.length);
  let same = 0;
  while (same < shortest && a[same] === b[same]) same++;
  let end = 0;
  while (end < shortest - same && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return 1 - (same + end) / Math.max(1, longest);
}

function conditionPart(
  rule: PathRuleIR,
  segments: readonly string[],
  attributesFor: AttributesFor,
): FailingPart {
  const params = paramsOf(rule, segments);
  const part = firstFailing(explain(rule.condition.expression, attributesFor(rule, params)));
  return part === undefined ? { kind: "less-specific" } : { kind: "condition", part };
}
