import type { PathRuleIR, SegmentIR } from "../ir.ts";
import { foldCase } from "../match/fold.ts";
import { overlap } from "./overlap.ts";

/** Example paths of patterns. */
export class ExamplePaths {
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

/** @returns the literals of these rules at a place in the path, and other spellings of them */
export function literalsAt(index: number, rules: readonly PathRuleIR[]): string[] {
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

/** @returns the name, or the shortest beginning with it that is not used */
function unused(name: string, isUsed: (name: string) => boolean): string {
  let found = name;
  while (isUsed(found)) found += "X";
  return found;
}

function hasLength(pattern: readonly SegmentIR[], length: number): boolean {
  return pattern.at(-1)?.kind === "rest" ? length >= pattern.length - 1 : length === pattern.length;
}
