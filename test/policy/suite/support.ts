import type { CoveredCondition, Suite, SuiteCase, SuiteDecision } from "../../../src/policy/suite/types.ts";

/** What a condition reads and says does not matter. */
const EXPRESSION = { op: "attribute", path: ["user", "a"] } as const;

/** Coverage of a rule, besides the counts. */
export const UNPARTED = { expression: EXPRESSION, parts: [{ true: 0, false: 0, unknown: 0 }] } as const;

/** A rule as far as suites look at one. */
export function rule(id: string, name?: string, constant = false): CoveredCondition {
  return { id, constant, expression: EXPRESSION, ...(name !== undefined && { name }) };
}

/** A decision by one rule whose condition was as the reason says. */
export function decided(
  decision: SuiteDecision["decision"],
  reason: string,
  id?: string,
  changes: Partial<SuiteDecision> = {},
): SuiteDecision {
  const verdict = reason === "CONDITION_TRUE" ? "true" : reason === "CONDITION_FALSE" ? "false" : "unknown";
  return {
    decision,
    reason,
    rules: id === undefined ? [] : [id],
    denied: [],
    evaluated: id === undefined ? [] : [{ rule: id, verdict }],
    answer: () => {
      throw new Error("there is no answer");
    },
    message: () => {
      throw new Error("there is no connection");
    },
    ...changes,
  };
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
  const hasSubject = ["request", "graphql", "websocket"].some(given);
  const defaults = [
    ...(given("name") ? [] : ["name: t"]),
    ...(hasSubject ? [] : ["request: GET /"]),
    ...(given("expect") ? [] : ["expect: allow"]),
  ];
  const [first = "", ...rest] = [...defaults, ...lines];
  return `policy_set: default\npeople: { ann: { id: u-1, customer_id: c-1 } }\ntests:\n  - ${first}\n${rest
    .map((line) => `    ${line}\n`)
    .join("")}`;
}
