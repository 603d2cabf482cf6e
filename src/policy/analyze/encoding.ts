import { isNegated, nodeOf, type Circuit, type CircuitNode, type Reference } from "./circuit.ts";
import type { Literal, SatSolver } from "./sat-solver.ts";
import { FALSE, NOT_FALSE, NOT_TRUE, TRUE, type Verdicts } from "./verdicts.ts";

/** What a solution needs of a leaf. */
export interface LeafNeed {
  readonly leaf: Extract<CircuitNode, { readonly kind: "leaf" }>;
  readonly verdicts: Verdicts;
  /** The literals that say so. */
  readonly literals: readonly Literal[];
}

/** The two variables of a node: it is true, and it is false. Neither: it is unknown. */
interface Pair {
  readonly isTrue: Literal;
  readonly isFalse: Literal;
}

/**
 * The verdicts of a circuit as clauses for a SAT solver, in the manner of Tseitin (1968), with two variables for each
 * node.
 */
export class Encoding {
  readonly #circuit: Circuit;
  readonly #solver: SatSolver;
  readonly #pairs = new Map<number, Pair>();
  /** What a literal is about. */
  readonly #owners = new Map<number, Reference>();
  readonly #goals: Literal[] = [];

  constructor(circuit: Circuit, solver: SatSolver) {
    this.#circuit = circuit;
    this.#solver = solver;
  }

  /** Requires that a part of the circuit has one of these verdicts. */
  require(reference: Reference, verdicts: Verdicts): void {
    const { isTrue, isFalse } = this.#pair(reference);
    const clauses: Literal[][] = [];
    if ((verdicts & TRUE) === 0) clauses.push([-isTrue]);
    if ((verdicts & FALSE) === 0) clauses.push([-isFalse]);
    if ((verdicts & (TRUE | FALSE)) === verdicts) clauses.push([isTrue, isFalse]);
    for (const clause of clauses) this.#solver.add(clause);
    this.#goals.push(...clauses.flat());
  }

  /**
   * @returns what the solver's solution needs of the leaves, so that all requirements are met: for an `and` that is not
   *   true, only one of its parts
   */
  needs(): LeafNeed[] {
    const seen = new Set<Literal>();
    const needed = new Map<number, Literal[]>();
    // of a requirement with two literals, one is true
    const ahead = this.#goals.filter((literal) => this.#solver.isTrue(literal));
    for (let literal = ahead.pop(); literal !== undefined; literal = ahead.pop()) {
      if (seen.has(literal)) continue;
      seen.add(literal);
      const reference = this.#owners.get(Math.abs(literal)) ?? 0;
      const node = this.#circuit.node(reference);
      if (node.kind === "leaf") {
        needed.set(nodeOf(reference), [...(needed.get(nodeOf(reference)) ?? []), literal]);
      } else ahead.push(...this.#below(node, literal, seen));
    }
    return [...needed].flatMap(([number, literals]) => {
      const leaf = this.#circuit.node(number * 2);
      return leaf.kind === "leaf" ? [{ leaf, verdicts: this.#verdicts(number, literals), literals }] : [];
    });
  }

  #verdicts(number: number, literals: readonly Literal[]): Verdicts {
    const { isTrue, isFalse } = this.#pair(number * 2);
    const meaning = new Map([
      [isTrue, TRUE],
      [-isTrue, NOT_TRUE],
      [isFalse, FALSE],
      [-isFalse, NOT_FALSE],
    ]);
    return literals.reduce((sofar, literal) => sofar & (meaning.get(literal) ?? 0), TRUE | NOT_TRUE);
  }

  /** @returns literals of the parts of a node that are true, and of which `literal` follows */
  #below(node: CircuitNode, literal: Literal, seen: ReadonlySet<Literal>): Literal[] {
    const { isTrue } = this.#pair((this.#owners.get(Math.abs(literal)) ?? 0) & ~1);
    const aboutTruth = Math.abs(literal) === isTrue;
    if (node.kind === "and") {
      const parts = node.args.map((arg) => this.#pair(arg));
      const own = parts.map((pair) => Math.sign(literal) * (aboutTruth ? pair.isTrue : pair.isFalse));
      // true: all are; not false: none is
      if (literal > 0 === aboutTruth) return own;
      const holding = own.filter((part) => this.#solver.isTrue(part));
      return [holding.find((part) => seen.has(part)) ?? holding[0] ?? 0];
    }
    if (node.kind !== "case") return [];
    const of = this.#pair(node.of);
    const given = [of.isTrue, of.isFalse].find((part) => this.#solver.isTrue(part));
    const chosen =
      given === undefined ? node.whenUnknown : given === of.isTrue ? node.whenTrue : node.whenFalse;
    const result = this.#pair(chosen);
    const follows = Math.sign(literal) * (aboutTruth ? result.isTrue : result.isFalse);
    return [follows, ...(given === undefined ? [-of.isTrue, -of.isFalse] : [given])];
  }

  #pair(reference: Reference): Pair {
    const number = nodeOf(reference);
    const pair = this.#pairs.get(number) ?? this.#encode(number);
    return isNegated(reference) ? { isTrue: pair.isFalse, isFalse: pair.isTrue } : pair;
  }

  #encode(number: number): Pair {
    const solver = this.#solver;
    const pair = { isTrue: solver.variable(), isFalse: solver.variable() };
    this.#pairs.set(number, pair);
    this.#owners.set(pair.isTrue, number * 2);
    this.#owners.set(pair.isFalse, number * 2);
    solver.add([-pair.isTrue, -pair.isFalse]);
    const node = this.#circuit.node(number * 2);
    switch (node.kind) {
      case "constant":
        solver.add([node.verdict === true ? pair.isTrue : -pair.isTrue]);
        solver.add([-pair.isFalse]);
        break;
      case "leaf":
        break;
      case "and": {
        const parts = node.args.map((arg) => this.#pair(arg));
        for (const part of parts) {
          solver.add([-pair.isTrue, part.isTrue]);
          solver.add([pair.isFalse, -part.isFalse]);
        }
        solver.add([pair.isTrue, ...parts.map((part) => -part.isTrue)]);
        solver.add([-pair.isFalse, ...parts.map((part) => part.isFalse)]);
        break;
      }
      case "case": {
        const of = this.#pair(node.of);
        this.#equate(pair, this.#pair(node.whenTrue), [-of.isTrue]);
        this.#equate(pair, this.#pair(node.whenFalse), [-of.isFalse]);
        this.#equate(pair, this.#pair(node.whenUnknown), [of.isTrue, of.isFalse]);
      }
    }
    return pair;
  }

  /** Two nodes have the same verdict, unless one of `otherwise` is true. */
  #equate(one: Pair, other: Pair, otherwise: readonly Literal[]): void {
    for (const [a, b] of [
      [one.isTrue, other.isTrue],
      [one.isFalse, other.isFalse],
    ] as const) {
      this.#solver.add([-a, b, ...otherwise]);
      this.#solver.add([a, -b, ...otherwise]);
    }
  }
}
