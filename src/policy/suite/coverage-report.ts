import { clip, visible } from "../../text/index.ts";
import { Effort, FALSE, findAttributes, textDomains, TRUE, UNKNOWN, type Domains } from "../analyze/index.ts";
import { formatExpression, type VerdictName } from "../condition/evaluation.ts";
import type { Expression } from "../ir.ts";
import { testsIn } from "./tests-in.ts";
import type { RuleCoverage, VerdictCounts } from "./types.ts";

/** What the tests show of a condition, or of a part of one. */
export interface OutcomeCoverage extends VerdictCounts {
  readonly text: string;
  /** Verdicts that it can have, and that no test has shown. */
  readonly missing: readonly VerdictName[];
  /** How many verdicts it can have. */
  readonly possible: number;
}

export interface ConditionCoverage extends OutcomeCoverage {
  readonly id: string;
  readonly name?: string;
  readonly field?: string;
  /** What `and`, `or` and `not` combine; empty for a single test. */
  readonly parts: readonly OutcomeCoverage[];
}

/** What the tests show of a policy set. */
export interface CoverageReport {
  readonly policySet: string;
  readonly conditions: readonly ConditionCoverage[];
  /** Of all conditions and their parts: verdicts that tests have shown, and that are possible. */
  readonly shown: number;
  readonly possible: number;
  readonly percent: number;
}

const VERDICTS: readonly (readonly [name: VerdictName, verdicts: number])[] = [
  ["true", TRUE],
  ["false", FALSE],
  ["unknown", UNKNOWN],
];

/** What finding out that a verdict is impossible may cost. In doubt it is possible. */
const EFFORT = 2000;

/** @returns which verdicts the tests have not shown, of those that a condition and its parts can have */
export function reportCoverage(policySet: string, rules: readonly RuleCoverage[]): CoverageReport {
  const conditions = rules.map(conditionCoverage);
  const all = conditions.flatMap((condition) => [condition, ...condition.parts]);
  const possible = all.reduce((sum, one) => sum + one.possible, 0);
  const shown = all.reduce((sum, one) => sum + one.possible - one.missing.length, 0);
  return { policySet, conditions, shown, possible, percent: possible === 0 ? 100 : (shown / possible) * 100 };
}

function conditionCoverage(rule: RuleCoverage): ConditionCoverage {
  const { id, name, field, expression } = rule;
  const tests = testsIn(expression);
  const isSingle = tests.length < 2;
  return {
    id,
    ...(name !== undefined && { name }),
    ...(field !== undefined && { field }),
    ...outcomesOf(expression, rule),
    parts: isSingle ? [] : tests.map((test, index) => outcomesOf(test, rule.parts[index] ?? NONE)),
  };
}

const NONE: VerdictCounts = { true: 0, false: 0, unknown: 0 };

function outcomesOf(expression: Expression, counts: VerdictCounts): OutcomeCoverage {
  const possible = possibleVerdicts(expression);
  const { true: isTrue, false: isFalse, unknown } = counts;
  return {
    text: clip(formatExpression(expression), 100),
    true: isTrue,
    false: isFalse,
    unknown,
    missing: possible.filter((verdict) => counts[verdict] === 0),
    possible: possible.length,
  };
}

/** A verdict that only a failing source would cause is not asked for. */
function possibleVerdicts(expression: Expression): VerdictName[] {
  return VERDICTS.filter(
    ([, verdicts]) => findAttributes([{ expression, verdicts }], DOMAINS, new Effort(EFFORT)).kind !== "none",
  ).map(([name]) => name);
}

const REQUESTS = textDomains();
const DOMAINS: Domains = {
  of(path) {
    const domain = REQUESTS.of(path);
    return domain.kind === "any" ? { kind: "any", unavailable: false } : domain;
  },
};

/** @returns the reports for a terminal: a table of what tests do not show */
export function renderCoverageReports(reports: readonly CoverageReport[]): string {
  return `${reports.map((report) => renderReport(report).join("\n")).join("\n\n")}\n`;
}

const HEAD = ["true", "false", "unknown", ""];

function renderReport({ policySet, conditions, shown, possible, percent }: CoverageReport): string[] {
  const rows = conditions.flatMap((condition) => {
    const gaps = condition.parts.filter(({ missing }) => missing.length > 0);
    if (condition.missing.length === 0 && gaps.length === 0) return [];
    return [rowOf(condition, titleOf(condition)), ...gaps.map((part) => rowOf(part, `  ${part.text}`))];
  });
  const summary = `policy set ${policySet}: ${shown} of ${possible} outcomes shown (${percentText(percent)} %)`;
  if (rows.length === 0) return [visible(summary)];
  const widths = HEAD.map((_, column) => Math.max(...[HEAD, ...rows].map((row) => row[column]?.length ?? 0)));
  const lines = [HEAD, ...rows].map((row) =>
    row
      .map((cell, column) => (column < 3 ? cell.padStart(widths[column] ?? 0) : cell))
      .join("  ")
      .trimEnd(),
  );
  return [summary, ...lines.map((line) => `  ${line}`)].map((line) => visible(line));
}

function rowOf(outcomes: OutcomeCoverage, title: string): readonly string[] {
  return [
    ...VERDICTS.map(([name]) =>
      outcomes.missing.includes(name) ? "never" : outcomes[name] === 0 ? "-" : String(outcomes[name]),
    ),
    title,
  ];
}

function titleOf({ id, name, field, text }: ConditionCoverage): string {
  const parts = [id, field, name === undefined ? undefined : `(${name})`];
  return `${parts.filter((part) => part !== undefined).join(" ")}: ${text}`;
}

/** Rounded down: 100 % means everything. */
export function percentText(percent: number): string {
  return (Math.floor(percent * 10) / 10).toFixed(1);
}
