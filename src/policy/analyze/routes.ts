import type { PathRuleIR, PolicySetIR, SegmentIR } from "../ir.ts";
import { foldCase } from "../match/fold.ts";
import { createMatcher } from "../match/matcher.ts";

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
 * Lists which deciders decide a request together.
 *
 * A path with invented names where a pattern has no literal matches as few rules as any path of the two patterns. So if
 * another rule decides for it, that rule decides for all of them, and the pair has no request. All numbers of segments
 * below `/**` that patterns can distinguish are tried.
 */
export function* routePairs(before: PolicySetIR, after: PolicySetIR): Generator<RoutePair> {
  const rules = [...before.rules, ...after.rules];
  const paths = new Paths(rules);
  const decide = [before, after].map((set) => {
    const matcher = createMatcher(set);
    return (method: string, segments: readonly string[]): Decider => {
      const match = matcher.match(method, segments);
      return match.kind === "rule" ? match.rule : match.kind === "case" ? "spelling" : "default";
    };
  });
  const pairOf = (one: Decider, other: Decider, examples: readonly string[][], spelled?: PathRuleIR) =>
    routePair(
      [one, other],
      (method, segments) => decide[0]?.(method, segments) === one && decide[1]?.(method, segments) === other,
      examples,
      rules,
      spelled,
    );

  for (const rule of before.rules) {
    for (const other of after.rules) {
      if (areMethodsShared(rule.method, other.method) && overlap(rule.segments, other.segments, same))
        yield* pairOf(rule, other, paths.of([rule, other]));
    }
    yield* pairOf(rule, "default", paths.of([rule]));
  }
  for (const rule of after.rules) yield* pairOf("default", rule, paths.of([rule]));
  for (const target of after.rules) {
    for (const rule of [...before.rules, "default"] as const)
      yield* pairOf(rule, "spelling", paths.otherSpellings(rule, target), target);
  }
  for (const target of before.rules) {
    for (const rule of [...after.rules, "default"] as const)
      yield* pairOf("spelling", rule, paths.otherSpellings(rule, target), target);
  }
}

function* routePair(
  [before, after]: readonly [Decider, Decider],
  isOfPair: (method: string, segments: readonly string[]) => boolean,
  examples: readonly string[][],
  rules: readonly PathRuleIR[],
  spelled: PathRuleIR | undefined,
): Generator<RoutePair> {
  const methods = methodsOf(rules);
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
      exceptions: literalsAt(index, rules).filter((value) => !accepts(value)),
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

/** @returns the name, or the shortest beginning with it that is not used */
function unused(name: string, isUsed: (name: string) => boolean): string {
  let found = name;
  while (isUsed(found)) found += "X";
  return found;
}

function literalsAt(index: number, rules: readonly PathRuleIR[]): string[] {
  const literals = rules.flatMap(({ segments }) => literalAt(segments, index) ?? []);
  return [...new Set(literals.flatMap((literal) => [literal, ...spellingsOf(literal)]))];
}

function literalAt(pattern: readonly SegmentIR[] | undefined, index: number): string | undefined {
  const segment = pattern?.[index];
  return segment?.kind === "literal" ? segment.value : undefined;
}

/** Some names that a matcher takes for other spellings of `literal`. */
function spellingsOf(literal: string): string[] {
  const [first = "", ...rest] = Array.from(literal);
  const toggled = (first === first.toUpperCase() ? first.toLowerCase() : first.toUpperCase()) + rest.join("");
  return [literal.toUpperCase(), literal.toLowerCase(), toggled, `${literal}.`].filter(
    (spelling) => spelling !== literal && foldCase(spelling) === foldCase(literal),
  );
}

/** Example paths of patterns. */
class Paths {
  readonly #longest: number;
  readonly #names: ReadonlySet<string>;

  /** @param rules - of both sets */
  constructor(rules: readonly PathRuleIR[]) {
    this.#longest = Math.max(0, ...rules.map(({ segments }) => segments.length)) + 1;
    this.#names = new Set(
      rules.flatMap(({ segments }) =>
        segments.flatMap((segment) => (segment.kind === "literal" ? [foldCase(segment.value)] : [])),
      ),
    );
  }

  /** @returns paths that match all patterns, one for each number of segments */
  of(rules: readonly PathRuleIR[]): string[][] {
    const found: string[][] = [];
    for (let length = 0; length <= this.#longest; length++) {
      if (!rules.every(({ segments }) => hasLength(segments, length))) continue;
      found.push(
        Array.from({ length }, (_, index) => {
          const [literal] = rules.flatMap(({ segments }) => literalAt(segments, index) ?? []);
          return literal ?? unused(`x${index + 1}`, (name) => this.#names.has(foldCase(name)));
        }),
      );
    }
    return found;
  }

  /** @returns paths that match `rule`, and that spell the path of `target` differently */
  otherSpellings(rule: PathRuleIR | "default", target: PathRuleIR): string[][] {
    const given = rule === "default" ? [] : [rule];
    const isSpelledSo = (a: string, b: string) => foldCase(a) === foldCase(b);
    if (!given.every(({ segments }) => overlap(segments, target.segments, isSpelledSo))) return [];
    return this.of([...given, target]).flatMap((path) => [
      path,
      ...path.flatMap((_, index) => {
        const literal = literalAt(target.segments, index);
        const isFree = given.every(({ segments }) => literalAt(segments, index) === undefined);
        return literal === undefined || !isFree
          ? []
          : spellingsOf(literal).map((spelling) => path.with(index, spelling));
      }),
    ]);
  }
}

function same(a: string, b: string): boolean {
  return a === b;
}

/** Whether a request can match both methods: HEAD matches rules for GET. */
export function areMethodsShared(a: string, b: string): boolean {
  if (a === b || a === "*" || b === "*") return true;
  return [a, b].every((method) => method === "GET" || method === "HEAD");
}

/** Whether a path can match both patterns. */
export function overlap(
  a: readonly SegmentIR[],
  b: readonly SegmentIR[],
  areSame: (a: string, b: string) => boolean = same,
): boolean {
  for (let index = 0; ; index++) {
    const [one, other] = [a[index], b[index]];
    if (one?.kind === "rest" || other?.kind === "rest") return true;
    if (one === undefined || other === undefined) return one === other;
    if (one.kind === "literal" && other.kind === "literal" && !areSame(one.value, other.value)) return false;
  }
}

function hasLength(pattern: readonly SegmentIR[], length: number): boolean {
  return pattern.at(-1)?.kind === "rest" ? length >= pattern.length - 1 : length === pattern.length;
}
