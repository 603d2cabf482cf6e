import type { PolicySetIR, ResponseFieldIR } from "../ir.ts";
import type {
  CoveredCondition,
  EvaluatedCondition,
  RuleCoverage,
  SuiteResult,
  SuiteSubject,
  VerdictCounts,
} from "./types.ts";
import { testsIn } from "./tests-in.ts";

/** @returns every condition of a policy set, in the order of its sections */
export function conditionsOf({ rules, responses, graphql, websocket }: PolicySetIR): CoveredCondition[] {
  return [
    ...rules.map((rule) => covered(rule, rule.condition)),
    ...responses.flatMap((rule) => rule.fields.map((field) => coveredField(rule, field))),
    ...graphql.rules.map((rule) => covered(rule, rule.condition)),
    ...websocket.connections.map((rule) => covered(rule, rule.condition)),
    ...websocket.connections.flatMap(({ messages }) =>
      messages.flatMap((rule) => [
        covered(rule, rule.condition),
        ...rule.fields.map((field) => coveredField(rule, field)),
      ]),
    ),
  ];
}

/** @returns `ssn`, or `$.customer.ssn`, as policies write it. */
export function fieldText({ anchored, keys }: ResponseFieldIR["field"]): string {
  return [...(anchored ? ["$"] : []), ...keys].join(".");
}

/** Counts which conditions the cases reached, and their verdicts. */
export function countVerdicts(
  conditions: SuiteSubject["conditions"],
  cases: readonly { readonly evaluated: readonly EvaluatedCondition[] }[],
): readonly RuleCoverage[] {
  const counts = new Map(
    conditions.map((one) => [
      keyOf(one),
      { whole: { ...NONE }, parts: testsIn(one.expression).map(() => ({ ...NONE })) },
    ]),
  );
  for (const { evaluated } of cases) {
    for (const { rule, field, verdict, parts = [] } of evaluated) {
      const count = counts.get(keyOf({ id: rule, field }));
      if (count === undefined) continue;
      count.whole[verdict] += 1;
      for (const { part, verdict: own } of parts) {
        const counted = count.parts[part];
        if (counted !== undefined) counted[own] += 1;
      }
    }
  }
  return conditions.map((one) => {
    const { whole = NONE, parts = [] } = counts.get(keyOf(one)) ?? {};
    return { ...one, ...whole, parts };
  });
}

/** Adds up the coverage of several suites: one entry per policy set, in order of first appearance. */
export function coverageBySet(results: readonly SuiteResult[]): ReadonlyMap<string, readonly RuleCoverage[]> {
  const sets = new Map<string, readonly RuleCoverage[]>();
  for (const { policySet, coverage } of results) {
    const known = sets.get(policySet);
    sets.set(policySet, known === undefined ? coverage : known.map((rule) => add(rule, coverage)));
  }
  return sets;
}

/** How often the condition was evaluated. */
export function timesReached(rule: RuleCoverage): number {
  return rule.true + rule.false + rule.unknown;
}

/** The outcomes that a condition's tests do not cover, for people; empty if they cover all. */
export function coverageGap(rule: RuleCoverage): string {
  if (timesReached(rule) === 0) return "never reached";
  if (rule.constant) return "";
  if (rule.true === 0) return "never true";
  return rule.false === 0 ? "never false" : "";
}

const NONE: VerdictCounts = { true: 0, false: 0, unknown: 0 };

function covered(
  { id, name }: Pick<CoveredCondition, "id"> & { readonly name?: string | undefined },
  condition: ResponseFieldIR["condition"],
): CoveredCondition {
  const { expression, reads } = condition;
  return { id, ...(name !== undefined && { name }), constant: reads.length === 0, expression };
}

function coveredField(
  rule: Parameters<typeof covered>[0],
  { field, condition }: ResponseFieldIR,
): CoveredCondition {
  return { ...covered(rule, condition), field: fieldText(field) };
}

function keyOf({ id, field }: { readonly id: string; readonly field?: string | undefined }): string {
  return field === undefined ? id : `${id} ${field}`;
}

function add(rule: RuleCoverage, others: readonly RuleCoverage[]): RuleCoverage {
  const other = others.find((candidate) => keyOf(candidate) === keyOf(rule));
  if (other === undefined) return rule;
  return {
    ...rule,
    ...sumOf(rule, other),
    parts: rule.parts.map((part, index) => sumOf(part, other.parts[index] ?? NONE)),
  };
}

function sumOf(one: VerdictCounts, other: VerdictCounts): VerdictCounts {
  return {
    true: one.true + other.true,
    false: one.false + other.false,
    unknown: one.unknown + other.unknown,
  };
}
