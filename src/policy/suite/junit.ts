import { escapeHtml } from "../../text/index.ts";
import { describeActual, describeExpected } from "./outcome.ts";
import type { CaseResult, SuiteResult } from "./types.ts";

/** @returns the results as a JUnit XML document, the format that CI systems read, with one `testsuite` per file */
export function junit(results: readonly SuiteResult[]): string {
  const all = results.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="gatehouse policy test"${counts(all)}>`,
    ...results.flatMap((result) => [
      `  <testsuite${attributes({ name: result.file })}${counts(result.cases)}>`,
      ...result.cases.flatMap((entry) => testcase(entry, result)),
      "  </testsuite>",
    ]),
    "</testsuites>",
    "",
  ].join("\n");
}

function testcase(entry: CaseResult, { file, policySet }: SuiteResult): readonly string[] {
  const head = `    <testcase${attributes({ name: entry.name, classname: policySet, file, line: entry.line })}`;
  if (entry.ok) return [`${head}/>`];
  const decision = `expected ${describeExpected(entry.expected)}; got ${describeActual(entry)}`;
  const message = [decision, ...entry.differences].join("; ");
  const element = entry.problem === undefined ? "failure" : "error";
  const text = escape(entry.actual?.explanation ?? message);
  return [`${head}>`, `      <${element}${attributes({ message })}>${text}</${element}>`, "    </testcase>"];
}

function counts(cases: readonly CaseResult[]): string {
  const errors = cases.filter(({ problem }) => problem !== undefined).length;
  const failures = cases.filter(({ ok }) => !ok).length - errors;
  return attributes({ tests: cases.length, failures, errors });
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escape(String(value).replace(/[\t\r\n]+/g, " "))}"`)
    .join("");
}

function escape(text: string): string {
  return escapeHtml(text.replace(NOT_TEXT, ""));
}

// characters that XML 1.0 section 2.2 forbids even as references, and the controls that it discourages
const NOT_TEXT = /[\u{0}-\u{8}\u{B}\u{C}\u{E}-\u{1F}\u{7F}-\u{9F}\u{D800}-\u{DFFF}\u{FFFE}\u{FFFF}]/gu;
