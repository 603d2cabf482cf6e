import type { SegmentIR } from "../ir.ts";
import { foldCase } from "../match/fold.ts";

/** Patterns that begin with the same segments, spelled in any way. */
interface Branch<Rule> {
  readonly literals: Map<string, Branch<Rule>>;
  wildcard?: Branch<Rule>;
  readonly rest: Rule[];
  readonly rules: Rule[];
}

/**
 * Finds rules whose paths overlap those of a pattern, without looking at all the others. Spellings that a matcher takes
 * for the same name are the same here.
 */
export class RulesByPath<Rule extends { readonly segments: readonly SegmentIR[] }> {
  readonly #root = branch<Rule>();
  readonly #order = new Map<Rule, number>();

  constructor(rules: readonly Rule[]) {
    for (const [index, rule] of rules.entries()) {
      this.#order.set(rule, index);
      this.#add(rule);
    }
  }

  /** @returns rules that a path of this pattern can match, in the order in which they were given */
  overlapping(segments: readonly SegmentIR[]): Rule[] {
    const found: Rule[] = [];
    collect(this.#root, segments, 0, found);
    return found.sort((a, b) => (this.#order.get(a) ?? 0) - (this.#order.get(b) ?? 0));
  }

  #add(rule: Rule): void {
    let at: Branch<Rule> = this.#root;
    for (const segment of rule.segments) {
      if (segment.kind === "rest") {
        at.rest.push(rule);
        return;
      }
      if (segment.kind === "literal") {
        const name = foldCase(segment.value);
        const next: Branch<Rule> = at.literals.get(name) ?? branch<Rule>();
        at.literals.set(name, next);
        at = next;
      } else at = at.wildcard ??= branch<Rule>();
    }
    at.rules.push(rule);
  }
}

function collect<Rule>(at: Branch<Rule>, segments: readonly SegmentIR[], index: number, found: Rule[]): void {
  const segment = segments[index];
  found.push(...at.rest);
  if (segment?.kind === "rest") {
    found.push(...at.rules);
    for (const below of branchesOf(at)) collect(below, segments, index, found);
    return;
  }
  if (segment === undefined) {
    found.push(...at.rules);
    return;
  }
  const next =
    segment.kind === "literal" ? [at.literals.get(foldCase(segment.value)), at.wildcard] : branchesOf(at);
  for (const below of next) if (below !== undefined) collect(below, segments, index + 1, found);
}

function branchesOf<Rule>(at: Branch<Rule>): Branch<Rule>[] {
  return [...at.literals.values(), ...(at.wildcard === undefined ? [] : [at.wildcard])];
}

function branch<Rule>(): Branch<Rule> {
  return { literals: new Map(), rest: [], rules: [] };
}
