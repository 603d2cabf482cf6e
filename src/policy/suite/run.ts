import { nearestHint, errorMessage } from "../../text/index.ts";
import { countVerdicts } from "./coverage.ts";
import { documentDifferences, setDifferences } from "./differences.ts";
import type {
  CaseResult,
  Expectation,
  EvaluatedCondition,
  SampleAnswer,
  Suite,
  SuiteCase,
  SuiteDecision,
  SuiteMessage,
  SuiteResult,
  SuiteSubject,
} from "./types.ts";

/** Decides every case in order, and compares. Never rejects: a failed decision fails its case. */
export async function runSuite(suite: Suite, subject: SuiteSubject): Promise<SuiteResult> {
  const cases: CaseResult[] = [];
  for (const test of suite.cases) cases.push(await runCase(test, subject));
  return {
    file: suite.file,
    policySet: suite.policySet,
    cases,
    coverage: countVerdicts(subject.conditions, cases),
  };
}

/** True if every case of every result passed, and there was at least one. */
export function allPassed(results: readonly SuiteResult[]): boolean {
  const cases = results.flatMap((result) => result.cases);
  return cases.length > 0 && cases.every((entry) => entry.ok);
}

async function runCase(test: SuiteCase, subject: SuiteSubject): Promise<CaseResult> {
  const result = { name: test.name, line: test.at.line, expected: test.expected };
  const unknownRule = unknownRuleProblem(test, subject);
  if (unknownRule !== undefined)
    return { ...result, ok: false, problem: unknownRule, differences: [], evaluated: [] };
  const evaluated: EvaluatedCondition[] = [];
  let actual: SuiteDecision | undefined;
  try {
    actual = await subject.decide(test.input);
    evaluated.push(...actual.evaluated);
    const differences = differencesOf(test, actual, evaluated, subject);
    const ok = meets(actual, test.expected, subject) && differences.length === 0;
    return { ...result, ok, actual, differences, evaluated };
  } catch (error) {
    const problem = `deciding failed: ${errorMessage(error)}`;
    return { ...result, ok: false, ...(actual && { actual }), problem, differences: [], evaluated };
  }
}

function meets(actual: SuiteDecision, expected: Expectation, subject: SuiteSubject): boolean {
  return (
    actual.decision === expected.decision &&
    (expected.reason === undefined || expected.reason === actual.reason) &&
    (expected.rule === undefined || actual.rules.some((id) => isCalled(id, expected.rule, subject)))
  );
}

function isCalled(id: string, called: string | undefined, { conditions }: SuiteSubject): boolean {
  return id === called || conditions.some((rule) => rule.id === id && rule.name === called);
}

/** What depends on the decision: denied fields, the response, messages. */
function differencesOf(
  { answer, messages = [], expected }: SuiteCase,
  actual: SuiteDecision,
  evaluated: EvaluatedCondition[],
  subject: SuiteSubject,
): string[] {
  const denied = expected.denied === undefined ? [] : setDifferences(expected.denied, actual.denied);
  const differences = denied.map((line) => `denied fields: ${line}`);
  if (actual.decision === "deny") return differences; // there is no response and no connection
  if (answer !== undefined) differences.push(...answerDifferences(answer, expected, actual, evaluated));
  for (const message of messages)
    differences.push(...messageDifferences(message, actual, evaluated, subject));
  return differences;
}

function answerDifferences(
  sample: SampleAnswer,
  { answer: expected = {} }: Expectation,
  actual: SuiteDecision,
  evaluated: EvaluatedCondition[],
): string[] {
  const { text, reason, masked, evaluated: conditions } = actual.answer(sample);
  evaluated.push(...conditions);
  if (text === undefined) {
    return expected.refused ? [] : [`the response is withheld: ${reason ?? "it cannot be read"}`];
  }
  if (expected.refused) return ["expected the response to be withheld, but it is delivered"];
  const body = expected.body === undefined ? [] : documentDifferences(expected.body, text);
  const paths = expected.masked === undefined ? [] : setDifferences(expected.masked, masked);
  return [...body.map((line) => `body: ${line}`), ...paths.map((line) => `masked paths: ${line}`)];
}

function messageDifferences(
  { at, direction, text: sent, expected }: SuiteMessage,
  actual: SuiteDecision,
  evaluated: EvaluatedCondition[],
  subject: SuiteSubject,
): string[] {
  const { text, reason, rule, evaluated: conditions } = actual.message(direction, sent);
  evaluated.push(...conditions);
  const decision = text === undefined ? "deny" : "allow";
  const differences: string[] = [];
  if (decision !== expected.decision) {
    differences.push(`expected ${expected.decision}, got ${decision}: ${reason}, ${rule ?? "no rule"}`);
  }
  if (expected.rule !== undefined && (rule === undefined || !isCalled(rule, expected.rule, subject))) {
    differences.push(`expected the rule ${expected.rule}, got ${rule ?? "no rule"}`);
  }
  if (text !== undefined && expected.delivered !== undefined) {
    differences.push(...documentDifferences(expected.delivered, text));
  }
  return differences.map((line) => `the message on line ${at.line}: ${line}`);
}

/** Otherwise a misspelled rule name would look like a wrong decision. */
function unknownRuleProblem(
  { expected, messages = [] }: SuiteCase,
  { conditions }: SuiteSubject,
): string | undefined {
  const known = [...new Set(conditions.flatMap(({ id, name }) => (name === undefined ? [id] : [id, name])))];
  for (const { rule } of [expected, ...messages.map((message) => message.expected)]) {
    if (rule === undefined || known.includes(rule)) continue;
    const hint = nearestHint(rule, known);
    return `the policy set has no rule \`${rule}\`${hint === undefined ? "" : `; ${hint}`}`;
  }
  return undefined;
}
