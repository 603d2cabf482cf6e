import { nearestHint } from "../condition/index.ts";
import { countVerdicts } from "./coverage.ts";
import type {
  CaseResult,
  Expectation,
  Suite,
  SuiteCase,
  SuiteDecision,
  SuiteResult,
  SuiteSubject,
} from "./types.ts";

/** Decides every case, one after the other, and compares. Never rejects: a decision that fails fails its case. */
export async function runSuite(suite: Suite, subject: SuiteSubject): Promise<SuiteResult> {
  const cases: CaseResult[] = [];
  for (const test of suite.cases) cases.push(await runCase(test, subject));
  return {
    file: suite.file,
    policySet: suite.policySet,
    cases,
    coverage: countVerdicts(subject.rules, cases),
  };
}

/** True when every case of every result is as expected, and there was at least one. */
export function allPassed(results: readonly SuiteResult[]): boolean {
  const cases = results.flatMap((result) => result.cases);
  return cases.length > 0 && cases.every((entry) => entry.ok);
}

async function runCase({ name, at, input, expected }: SuiteCase, subject: SuiteSubject): Promise<CaseResult> {
  const result = { name, line: at.line, expected };
  const unknownRule = unknownRuleProblem(expected, subject);
  if (unknownRule !== undefined) return { ...result, ok: false, problem: unknownRule };
  try {
    const actual = await subject.decide(input);
    return { ...result, ok: meets(actual, expected, subject), actual };
  } catch (error) {
    return {
      ...result,
      ok: false,
      problem: `deciding failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function meets(actual: SuiteDecision, expected: Expectation, { rules }: SuiteSubject): boolean {
  const name = rules.find((rule) => rule.id === actual.rule)?.name;
  return (
    actual.decision === expected.decision &&
    (expected.reason === undefined || expected.reason === actual.reason) &&
    (expected.rule === undefined || expected.rule === actual.rule || expected.rule === name)
  );
}

/** A misspelled rule would otherwise read as a wrong decision. */
function unknownRuleProblem({ rule }: Expectation, { rules }: SuiteSubject): string | undefined {
  if (rule === undefined) return undefined;
  const known = rules.flatMap(({ id, name }) => (name === undefined ? [id] : [id, name]));
  if (known.includes(rule)) return undefined;
  const hint = nearestHint(rule, known);
  return `the policy set has no rule \`${rule}\`${hint === undefined ? "" : `; ${hint}`}`;
}
