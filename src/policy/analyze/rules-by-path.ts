import type { PathRuleIR, SegmentIR } from "../ir.ts";
import { foldCase } from "../match/fold.ts";

/** Patterns that begin with the same segments, spelled in any way. */
interface Branch {
  readonly literals: Map<string, Branch>;
  wildcard?: Branch;
  readonly rest: PathRuleIR[];
  readonly rules: PathRuleIR[];
}

/**
 * Finds rules whose paths overlap those of a pattern, without looking at all the others. Spellings that a matcher takes
 * for the same name are the same here.
 */
export class RulesByPath {
  readonly #root = branch();
  readonly #order = new Map<PathRuleIR, number>();

  constructor(rules: readonly PathRuleIR[]) {
    for (const [index, rule] of rules.entries()) {
      this.#order.set(rule, index);
      this.#add(rule);
    }
  }

  /** @returns rules that a path of this pattern can match, in the order in which they were given */
  overlapping(segments: readonly SegmentIR[]): PathRuleIR[] {
    const found: PathRuleIR[] = [];
    collect(this.#root, segments, 0, found);
    return found.sort((a, b) => (this.#order.get(a) ?? 0) - (this.#order.get(b) ?? 0));
  }

  #add(rule: PathRuleIR): void {
    let at = this.#root;
    for (const segment of rule.segments) {
      if (segment.kind === "rest") {
        at.rest.push(rule);
        return;
      }
      if (segment.kind === "literal") {
        const name = foldCase(segment.value);
        const next = at.literals.get(name) ?? branch();
        at.literals.set(name, next);
        at = next;
      } else at = at.wildcard ??= branch();
    }
    at.rules.push(rule);
  }
}

function collect(at: Branch, segments: readonly SegmentIR[], index: number, found: PathRuleIR[]): void {
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

function branchesOf(at: Branch): Branch[] {
  return [...at.literals.values(), ...(at.wildcard === undefined ? [] : [at.wildcard])];
}

function branch(): Branch {
  return { literals: new Map(), rest: [], rules: [] };
}
