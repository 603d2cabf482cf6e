/** Tests of policy sets: `*.test.yaml` to results. Pure; whoever calls decides what a decision is. */
export { allPassed, runSuite } from "./run.ts";
export { coverageBySet, coverageGap, timesReached } from "./coverage.ts";
export { junit } from "./junit.ts";
export { MAX_CASES, parseSuite, type ParsedSuite } from "./parse.ts";
export { renderSuite } from "./render.ts";
export type {
  CaseResult,
  Expectation,
  RuleCoverage,
  Suite,
  SuiteCase,
  SuiteDecision,
  SuiteInput,
  SuiteRequest,
  SuiteResult,
  SuiteSubject,
  SuiteVerdict,
} from "./types.ts";
