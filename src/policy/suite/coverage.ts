import type { CaseResult, RuleCoverage, SuiteResult, SuiteSubject } from "./types.ts";

/** Which rules the cases reached, and what their conditions were. */
export function countVerdicts(
  rules: SuiteSubject["rules"],
  cases: readonly Pick<CaseResult, "actual">[],
): readonly RuleCoverage[] {
  const counts = new Map(rules.map((rule) => [rule.id, { true: 0, false: 0, unknown: 0 }]));
  for (const { actual } of cases) {
    const count = counts.get(actual?.rule ?? "");
    if (actual !== undefined && count !== undefined) count[verdictOf(actual.reason)] += 1;
  }
  return rules.map(({ id, name, condition }) => ({
    id,
    ...(name !== undefined && { name }),
    ...(counts.get(id) ?? { true: 0, false: 0, unknown: 0 }),
    constant: condition.reads.length === 0,
  }));
}

/** Adds up the coverage of several suites, one entry a policy set, sets in order of first appearance. */
export function coverageBySet(results: readonly SuiteResult[]): ReadonlyMap<string, readonly RuleCoverage[]> {
  const sets = new Map<string, readonly RuleCoverage[]>();
  for (const { policySet, coverage } of results) {
    const known = sets.get(policySet);
    sets.set(policySet, known === undefined ? coverage : known.map((rule) => add(rule, coverage)));
  }
  return sets;
}

/** How often the rule decided at all. */
export function timesReached(rule: RuleCoverage): number {
  return rule.true + rule.false + rule.unknown;
}

/** What a rule's tests leave out, for people; empty when they leave out nothing. */
export function coverageGap(rule: RuleCoverage): string {
  if (timesReached(rule) === 0) return "never reached";
  if (rule.constant) return "";
  if (rule.true === 0) return "never true";
  return rule.false === 0 ? "never false" : "";
}

function add(rule: RuleCoverage, others: readonly RuleCoverage[]): RuleCoverage {
  const other = others.find(({ id }) => id === rule.id);
  if (other === undefined) return rule;
  return {
    ...rule,
    true: rule.true + other.true,
    false: rule.false + other.false,
    unknown: rule.unknown + other.unknown,
  };
}

/** A rule that matched and was neither true nor false could not be decided, whatever the answer is called. */
function verdictOf(reason: string): "true" | "false" | "unknown" {
  if (reason === "CONDITION_TRUE") return "true";
  return reason === "CONDITION_FALSE" ? "false" : "unknown";
}
