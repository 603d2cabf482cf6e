import { visible } from "../../text/index.ts";
import { coverageBySet, coverageGap, timesReached } from "./coverage.ts";
import { describeActual, describeExpected } from "./outcome.ts";
import type { CaseResult, RuleCoverage, SuiteResult } from "./types.ts";

/** @returns the results for a terminal, without colours: each failure with its explanation, then the coverage */
export function renderSuite(results: readonly SuiteResult[]): string {
  const blocks = [
    ...results.map(renderResult),
    ...[...coverageBySet(results)].map(([name, rules]) => renderCoverage(name, rules)),
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function renderResult({ file, cases }: SuiteResult): readonly string[] {
  const failed = cases.filter(({ ok }) => !ok);
  const passed = cases.length - failed.length;
  return [
    `${visible(file)}: ${passed} passed, ${failed.length} failed`,
    ...failed.flatMap((entry) => renderFailure(entry, file)),
  ];
}

function renderFailure(entry: CaseResult, file: string): readonly string[] {
  const explanation = entry.actual?.explanation?.trimEnd().split("\n") ?? [];
  return [
    "",
    visible(`  ${entry.name} (${file}:${entry.line})`),
    visible(`    expected: ${describeExpected(entry.expected)}`),
    visible(`    actual:   ${describeActual(entry)}`),
    ...entry.differences.map((line) => visible(`    ${line}`)),
    ...explanation.map((line) => visible(`      ${line}`)),
  ];
}

function renderCoverage(policySet: string, rules: readonly RuleCoverage[]): readonly string[] {
  const reached = rules.filter((rule) => timesReached(rule) > 0).length;
  const gaps = rules.filter((rule) => coverageGap(rule) !== "");
  return [
    visible(
      `policy set ${policySet}: ${reached} of ${rules.length} conditions reached, ` +
        `${rules.length - gaps.length} with every outcome`,
    ),
    ...gaps.map((rule) => visible(`  ${label(rule)}: ${coverageGap(rule)}`)),
  ];
}

function label({ id, name, field }: RuleCoverage): string {
  return [id, ...(field === undefined ? [] : [field]), ...(name === undefined ? [] : [`(${name})`])].join(
    " ",
  );
}
