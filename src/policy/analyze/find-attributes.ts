import { evaluate } from "../condition/evaluate.ts";
import type { Expression } from "../ir.ts";
import type { Attributes } from "../value.ts";
import { Circuit } from "./circuit.ts";
import { UNRESTRICTED, type Domains } from "./domain.ts";
import type { Effort } from "./effort.ts";
import { Encoding } from "./encoding.ts";
import { meet } from "./groups.ts";
import { SatSolver } from "./sat-solver.ts";
import { attributesOf } from "./variables.ts";
import { contains, type Verdicts } from "./verdicts.ts";

/** A condition, and the verdicts that it may have. */
export interface Goal {
  readonly expression: Expression;
  readonly verdicts: Verdicts;
}

/** Attributes that meet goals: an example, the proof that there are none, or why neither was found. */
export type Finding =
  | { readonly kind: "found"; readonly attributes: Attributes }
  | { readonly kind: "none" }
  | { readonly kind: "undecided"; readonly why: string };

/** The most combinations of verdicts of the conditions' parts that are tried, and the most conflicts between clauses. */
const MAX_ROUNDS = 1000;
const MAX_CONFLICTS = 10_000;
/** The same, and what each attempt of the solver costs, where the effort is limited. */
const FEW_CONFLICTS = 100;
const COST_OF_ROUND = 50;
const TOO_MUCH = "the conditions have too many combinations of parts";

/** How often an example did not hold when it was evaluated. Stays 0; tests check it. */
export const unconfirmed = { count: 0 };

/**
 * Looks for attributes over which each condition has one of the given verdicts. Complete over the domains, except where
 * the result is `undecided`; `docs/decisions/0060-what-a-change-means.md` tells why. Every example has been evaluated.
 *
 * @param effort - what it may cost; without it, only the limits of each search hold
 */
export function findAttributes(
  goals: readonly Goal[],
  domains: Domains = UNRESTRICTED,
  effort?: Effort,
): Finding {
  if (effort?.spend(COST_OF_ROUND) === false) return { kind: "undecided", why: TOO_MUCH };
  const circuit = new Circuit();
  const solver = new SatSolver(effort === undefined ? MAX_CONFLICTS : FEW_CONFLICTS);
  const encoding = new Encoding(circuit, solver);
  for (const { expression, verdicts } of goals) encoding.require(circuit.add(expression), verdicts);
  let undecided: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (effort?.spend(COST_OF_ROUND) === false) break;
    const solved = solver.solve();
    if (solved === undefined) break;
    if (!solved) return undecided === undefined ? { kind: "none" } : { kind: "undecided", why: undecided };
    const met = meet(encoding.needs(), domains, effort);
    if (met.kind === "found") return confirmed(goals, attributesOf(met.values));
    if (met.kind === "undecided") undecided ??= met.why;
    solver.add(met.core.flatMap(({ literals }) => literals.map((literal) => -literal)));
  }
  return { kind: "undecided", why: undecided ?? TOO_MUCH };
}

/** @returns the example, if the evaluator says that it meets the goals */
export function confirmed(goals: readonly Goal[], attributes: Attributes): Finding {
  if (goals.every(({ expression, verdicts }) => contains(verdicts, evaluate(expression, attributes))))
    return { kind: "found", attributes };
  unconfirmed.count += 1;
  return { kind: "undecided", why: "an example was found, but the evaluator does not confirm it" };
}
