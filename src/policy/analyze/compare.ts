import type { Expression } from "../ir.ts";
import { Circuit } from "./circuit.ts";
import { UNRESTRICTED, type Domains } from "./domain.ts";
import { findAttributes, type Finding, type Goal } from "./find-attributes.ts";
import { NOT_TRUE, TRUE } from "./verdicts.ts";

/** What a change of a condition means for what it permits. */
export type Change = "equivalent" | "narrower" | "wider" | "incomparable" | "undecided";

export interface Comparison {
  readonly change: Change;
  /** Attributes over which only the new condition is true. */
  readonly gained: Finding;
  /** Attributes over which only the old condition is true. */
  readonly lost: Finding;
}

const NONE: Finding = { kind: "none" };

/**
 * Compares where two conditions are true.
 *
 * @param given - what must hold besides, for every example
 */
export function compareConditions(
  before: Expression,
  after: Expression,
  domains: Domains = UNRESTRICTED,
  given: readonly Goal[] = [],
): Comparison {
  const circuit = new Circuit();
  if (circuit.add(before) === circuit.add(after)) return { change: "equivalent", gained: NONE, lost: NONE };
  const onlyOf = (one: Expression, other: Expression) =>
    findAttributes(
      [...given, { expression: one, verdicts: TRUE }, { expression: other, verdicts: NOT_TRUE }],
      domains,
    );
  const gained = onlyOf(after, before);
  const lost = onlyOf(before, after);
  return { change: changeOf(gained, lost), gained, lost };
}

/** @returns what examples of more and of less mean together */
export function changeOf(gained: Finding, lost: Finding): Change {
  if (gained.kind === "undecided" || lost.kind === "undecided") return "undecided";
  if (gained.kind === "found") return lost.kind === "found" ? "incomparable" : "wider";
  return lost.kind === "found" ? "narrower" : "equivalent";
}
