import type { PathRuleIR } from "../../../src/policy/ir.ts";
import type { Suite, SuiteCase, SuiteSubject } from "../../../src/policy/suite/types.ts";

type Rule = SuiteSubject["rules"][number];

/** A rule as far as suites look at one. */
export function rule(
  id: string,
  name?: string,
  reads: PathRuleIR["condition"]["reads"] = [["user", "role"]],
): Rule {
  const condition = { expression: { op: "literal", value: true }, source: "true", reads } as const;
  return { id, condition, ...(name !== undefined && { name }) };
}

/** A case on `GET /`, from line 7. */
export function testCase(name: string, expected: SuiteCase["expected"]): SuiteCase {
  return {
    name,
    at: { file: "a.test.yaml", line: 7, column: 5 },
    input: { request: { method: "GET", path: "/", headers: [] }, attributes: {}, env: {} },
    expected,
  };
}

export function suiteOf(...cases: SuiteCase[]): Suite {
  return { file: "a.test.yaml", policySet: "default", cases };
}

/** A suite of one test, which is allowed unless `lines` say otherwise. */
export function one(...lines: string[]): string {
  const given = (key: string) => lines.some((line) => line.startsWith(`${key}:`));
  const defaults = [
    ...(given("name") ? [] : ["name: t"]),
    ...(given("request") ? [] : ["request: GET /"]),
    ...(given("expect") ? [] : ["expect: allow"]),
  ];
  const [first = "", ...rest] = [...defaults, ...lines];
  return `policy_set: default\npeople: { ann: { id: u-1, customer_id: c-1 } }\ntests:\n  - ${first}\n${rest
    .map((line) => `    ${line}\n`)
    .join("")}`;
}
