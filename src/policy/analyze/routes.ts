import type { PathRuleIR, PolicySetIR } from "../ir.ts";
import { createMatcher } from "../match/matcher.ts";
import { shapeOf } from "../pattern/shape.ts";
import { ExamplePaths, literalsAt } from "./example-paths.ts";
import { areMethodsShared, overlap } from "./overlap.ts";
import { RulesByPath } from "./rules-by-path.ts";

/** What routes requests in a policy set. */
export type RoutedSet = Pick<PolicySetIR, "rules" | "default">;

/** What decides a request: a rule, the default, or that only the spelling of its path differs from a rule's. */
export type Decider = PathRuleIR | "default" | "spelling";

/** Requests that have one decider before a change, and one after it. */
export interface RoutePair {
  readonly before: Decider;
  readonly after: Decider;
  /** The rule whose path these requests spell differently, where a decider is `spelling`. */
  readonly spelled?: PathRuleIR;
  /** Methods and texts that conditions on these requests are tried with. */
  readonly methods: Values;
  readonly segment: (index: number) => Values;
  /** A path of these requests. */
  readonly path: readonly string[];
  /** @returns the method and path of such a request with these segments by index, if there is one */
  readonly complete: (
    segments: ReadonlyMap<number, string>,
    method?: string,
  ) => { readonly method: string; readonly segments: readonly string[] } | undefined;
}

/** Which texts a part of a request can have. */
export interface Values {
  readonly accepts: (value: string) => boolean;
  /** If only a few are accepted, all of them. */
  readonly samples: readonly string[];
  /** If only a few are not accepted, all of them. */
  readonly exceptions: readonly string[];
}

/** A method that no rule can name. */
const UNNAMED = "PURGE";
const COMMON = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Lists which deciders decide a request together, except rules that are in both sets with the same condition.
 *
 * What decides a request depends only on the rules whose paths it matches, in any spelling. So the decider is another
 * rule only where a rule was added or removed that overlaps both.
 *
 * A path with invented names where a pattern has no literal matches as few rules as any path of the two patterns. So if
 * another rule decides for it, that rule decides for all of them, and the pair has no request. All numbers of segments
 * below `/**` that patterns can distinguish are tried.
 */
export function* routePairs(before: RoutedSet, after: RoutedSet): Generator<RoutePair> {
  const old = new RulesByPath(before.rules);
  const now = new RulesByPath(after.rules);
  const paths = new ExamplePaths([...before.rules, ...after.rules]);
  const decide = [before, after].map((set) => {
    const matcher = createMatcher(set);
    return (method: string, segments: readonly string[]): Decider => {
      const match = matcher.match(method, segments);
      return match.kind === "rule" ? match.rule : match.kind === "case" ? "spelling" : "default";
    };
  });
  const nearby = new Map<PathRuleIR, readonly PathRuleIR[]>();
  const near = (rule: PathRuleIR) => {
    const known = nearby.get(rule) ?? [...old.overlapping(rule.segments), ...now.overlapping(rule.segments)];
    nearby.set(rule, known);
    return known;
  };
  const pairOf = (one: Decider, other: Decider, examples: readonly string[][], spelled?: PathRuleIR) => {
    const [rule = spelled] = [one, other].filter((decider) => typeof decider === "object");
    return routePair(
      [one, other],
      (method, path) => decide[0]?.(method, path) === one && decide[1]?.(method, path) === other,
      examples,
      rule === undefined ? [] : near(rule),
      spelled,
    );
  };

  const pairs = candidatesOf(before, after, old, now);
  for (const rule of before.rules) {
    for (const other of inOrder(pairs.rules.get(rule), after.rules)) {
      if (areMethodsShared(rule.method, other.method) && overlap(rule.segments, other.segments))
        yield* pairOf(rule, other, paths.of([rule, other]));
    }
    if (pairs.moved.has(rule)) yield* pairOf(rule, "default", paths.of([rule]));
  }
  for (const rule of after.rules) if (pairs.moved.has(rule)) yield* pairOf("default", rule, paths.of([rule]));
  for (const target of after.rules) {
    const rules = pairs.spelledAfter.get(target);
    for (const rule of rules === undefined ? [] : [...inOrder(rules, before.rules), "default" as const])
      yield* pairOf(rule, "spelling", paths.otherSpellings(rule, target), target);
  }
  for (const target of before.rules) {
    const rules = pairs.spelledBefore.get(target);
    for (const rule of rules === undefined ? [] : [...inOrder(rules, after.rules), "default" as const])
      yield* pairOf("spelling", rule, paths.otherSpellings(rule, target), target);
  }
}

type Related = Map<PathRuleIR, Set<PathRuleIR>>;

/** Which rules may decide a request together. */
interface Candidates {
  /** By rule of the set before: rules of the set after. */
  readonly rules: Related;
  /** Rules whose requests may be decided by the default of the other set. */
  readonly moved: ReadonlySet<PathRuleIR>;
  /** By rule of the set after whose path a request may spell differently: rules of the set before. */
  readonly spelledAfter: Related;
  /** The same, the other way around. */
  readonly spelledBefore: Related;
}

function candidatesOf(
  before: RoutedSet,
  after: RoutedSet,
  old: RulesByPath<PathRuleIR>,
  now: RulesByPath<PathRuleIR>,
): Candidates {
  const rules: Related = new Map();
  const spelledAfter: Related = new Map();
  const spelledBefore: Related = new Map();
  const moved = new Set<PathRuleIR>();
  const [oldRoutes, nowRoutes] = [before, after].map(
    (set) => new Map(set.rules.map((rule) => [routeOf(rule), rule])),
  ) as [Map<string, PathRuleIR>, Map<string, PathRuleIR>];
  for (const [route, rule] of oldRoutes) {
    const twin = nowRoutes.get(route);
    if (twin !== undefined && contentOf(twin) !== contentOf(rule)) relate(rules, rule, twin);
  }
  const changed = [
    ...before.rules.filter((rule) => !nowRoutes.has(routeOf(rule))),
    ...after.rules.filter((rule) => !oldRoutes.has(routeOf(rule))),
  ];
  for (const { segments } of changed) {
    const olds = old.overlapping(segments);
    const nows = now.overlapping(segments);
    const near = new Set(nows);
    for (const rule of [...olds, ...nows]) moved.add(rule);
    for (const rule of olds) {
      if (!spelledBefore.has(rule)) spelledBefore.set(rule, new Set());
      for (const other of now.overlapping(rule.segments)) {
        if (!near.has(other)) continue;
        if (routeOf(rule) !== routeOf(other)) relate(rules, rule, other);
        relate(spelledBefore, rule, other);
        relate(spelledAfter, other, rule);
      }
    }
    for (const other of nows) if (!spelledAfter.has(other)) spelledAfter.set(other, new Set());
  }
  return { rules, moved, spelledAfter, spelledBefore };
}

function relate(all: Related, one: PathRuleIR, other: PathRuleIR): void {
  const related = all.get(one) ?? new Set();
  all.set(one, related.add(other));
}

function* inOrder(
  some: ReadonlySet<PathRuleIR> | undefined,
  all: readonly PathRuleIR[],
): Generator<PathRuleIR> {
  if (some === undefined) return;
  if (some.size < 2) yield* some;
  else for (const rule of all) if (some.has(rule)) yield rule;
}

/** What a matcher knows of a rule. */
function routeOf({ section, method, segments }: PathRuleIR): string {
  return JSON.stringify([section, method, shapeOf(segments)]);
}

/** What decides requests to a rule: equal conditions may read parameters of other names. */
function contentOf({ pattern, condition }: PathRuleIR): string {
  return JSON.stringify([pattern, condition.source, condition.expression]);
}

function* routePair(
  [before, after]: readonly [Decider, Decider],
  isOfPair: (method: string, segments: readonly string[]) => boolean,
  examples: readonly string[][],
  near: readonly PathRuleIR[],
  spelled: PathRuleIR | undefined,
): Generator<RoutePair> {
  if (examples.length === 0) return;
  const methods = methodsOf(near);
  const found = examples.filter((segments) => methods.some((method) => isOfPair(method, segments)));
  const [path] = found;
  if (path === undefined) return;
  const acceptsMethod = (method: string) => found.some((segments) => isOfPair(method, segments));
  const segmentValues = (index: number): Values => {
    const accepts = (value: string) =>
      found.some((segments) => {
        const changed = index < segments.length ? segments.with(index, value) : segments;
        return methods.some((method) => isOfPair(method, changed));
      });
    return {
      accepts,
      samples: [...new Set(found.flatMap((segments) => segments[index] ?? []))],
      exceptions: literalsAt(index, near).filter((value) => !accepts(value)),
    };
  };
  const segments = new Map<number, Values>();
  yield {
    before,
    after,
    ...(spelled !== undefined && { spelled }),
    path,
    methods: {
      accepts: acceptsMethod,
      samples: methods.filter(acceptsMethod),
      exceptions: methods.filter((method) => !acceptsMethod(method)),
    },
    segment: (index) => {
      const known = segments.get(index) ?? segmentValues(index);
      segments.set(index, known);
      return known;
    },
    complete: (values, method) => {
      for (const segments of found) {
        const filled = segments.map((segment, index) => values.get(index) ?? segment);
        const own = (method === undefined ? methods : [method]).find((one) => isOfPair(one, filled));
        if (own !== undefined) return { method: own, segments: filled };
      }
      return undefined;
    },
  };
}

/** Every method that a rule distinguishes, and one that none does. */
function methodsOf(rules: readonly PathRuleIR[]): string[] {
  const named = new Set([...COMMON, ...rules.map(({ method }) => method)]);
  named.delete("*");
  return [...named, UNNAMED];
}
