import { pathsIn } from "../condition/reads.ts";
import type { Expression } from "../ir.ts";
import type { Domains } from "./domain.ts";
import type { Effort } from "./effort.ts";
import { findAttributes, type Goal } from "./find-attributes.ts";
import { FALSE, NOT_TRUE, TRUE } from "./verdicts.ts";

/** Of terms that depend on each other, only the first ones are looked at. */
const MAX_TERMS = 24;

/**
 * Finds terms of a chain that contradict each other for every request: of `and`, terms that are never all true; of `or`,
 * terms of which one is always true if any has a verdict. No term does so alone.
 *
 * @returns the indices of each such combination, none of which can be left out; each term is the last of at most one
 */
export function contradictoryTerms(
  op: "and" | "or",
  terms: readonly Expression[],
  domains: Domains,
  effort: Effort,
): number[][] {
  return clustersOf(terms).flatMap((cluster) => {
    const some = cluster.slice(0, MAX_TERMS);
    const search = new TermSearch(op, terms, domains, effort);
    return op === "and" ? search.neverTrue(some) : search.alwaysTrue(some);
  });
}

class TermSearch {
  readonly #op: "and" | "or";
  readonly #terms: readonly Expression[];
  readonly #domains: Domains;
  readonly #effort: Effort;

  constructor(op: "and" | "or", terms: readonly Expression[], domains: Domains, effort: Effort) {
    this.#op = op;
    this.#terms = terms;
    this.#domains = domains;
    this.#effort = effort;
  }

  neverTrue(cluster: readonly number[]): number[][] {
    const found: number[][] = [];
    let left = cluster;
    while (left.length > 1 && this.#isDecided(left)) {
      const core = this.#smallest(left);
      if (core.length > 1) found.push(core);
      left = left.filter((index) => index !== core.at(-1));
    }
    return found;
  }

  alwaysTrue(cluster: readonly number[]): number[][] {
    if (!this.#isDecided(cluster)) return [];
    const pairs = cluster.flatMap((later, place) => {
      const earlier = cluster.slice(0, place).find((index) => this.#isOneTrue([index, later]));
      return earlier === undefined ? [] : [[earlier, later]];
    });
    if (pairs.length > 0) return pairs;
    const core = this.#smallest(cluster);
    return core.length > 2 && this.#isOneTrue(core) ? [core] : [];
  }

  /** Whether the chain of these terms has the same outcome for every request: of `and`, never true; of `or`, never false. */
  #isDecided(indices: readonly number[]): boolean {
    const verdicts = this.#op === "and" ? TRUE : FALSE;
    return this.#isImpossible([{ expression: this.#chain(this.#op, indices), verdicts }]);
  }

  /** Whether one of several terms is true wherever one is false, although each can be false. */
  #isOneTrue(indices: readonly number[]): boolean {
    return (
      this.#isImpossible([
        { expression: this.#chain("or", indices), verdicts: NOT_TRUE },
        { expression: this.#chain("and", indices), verdicts: FALSE },
      ]) && indices.every((index) => !this.#isDecided([index]))
    );
  }

  /** Leaves out terms, later ones first, as long as the others decide the chain. */
  #smallest(indices: readonly number[]): number[] {
    let left = [...indices];
    for (const index of indices.toReversed()) {
      const without = left.filter((other) => other !== index);
      if (without.length > 0 && this.#isDecided(without)) left = without;
    }
    return left;
  }

  #chain(op: "and" | "or", indices: readonly number[]): Expression {
    return { op, args: indices.flatMap((index) => this.#terms[index] ?? []) };
  }

  #isImpossible(goals: readonly Goal[]): boolean {
    return findAttributes(goals, this.#domains, this.#effort).kind === "none";
  }
}

/** Terms that read the same attribute, or one above the other's, directly or by way of other terms. */
function clustersOf(terms: readonly Expression[]): number[][] {
  const paths = terms.map((term) => pathsIn(term));
  const byRoot = Map.groupBy(
    paths.flatMap((all, index) => all.map((path) => ({ path, index }))),
    ({ path }) => path[0],
  );
  const parents = terms.map((_, index) => index);
  const top = (index: number): number => {
    const parent = parents[index] ?? index;
    return parent === index ? index : (parents[index] = top(parent));
  };
  for (const reads of byRoot.values()) {
    const known = new Map<string, number>();
    for (const { path, index } of reads.toSorted((a, b) => a.path.length - b.path.length)) {
      for (let length = 1; length <= path.length; length++) {
        const other = known.get(JSON.stringify(path.slice(0, length)));
        if (other !== undefined) parents[Math.max(top(index), top(other))] = Math.min(top(index), top(other));
      }
      known.set(JSON.stringify(path), index);
    }
  }
  const clusters = Map.groupBy(parents.keys(), top);
  return [...clusters.values()].filter((cluster) => cluster.length > 1);
}

/** Whether an attribute is read twice, or besides one above it. Otherwise no part of a condition contradicts another. */
export function readsAgain(expression: Expression): boolean {
  const seen = new Set<string>();
  return pathsIn(expression)
    .toSorted((a, b) => a.length - b.length)
    .some((path) => {
      if (path.some((_, index) => seen.has(JSON.stringify(path.slice(0, index + 1))))) return true;
      seen.add(JSON.stringify(path));
      return false;
    });
}
