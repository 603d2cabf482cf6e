/** Tests of policy sets: `*.test.yaml` to results. Pure; the caller supplies the function that decides. */
export { allPassed, runSuite } from "./run.ts";
export { conditionsOf, coverageBySet, coverageGap, fieldText, timesReached } from "./coverage.ts";
export {
  percentText,
  renderCoverageReports,
  reportCoverage,
  type ConditionCoverage,
  type CoverageReport,
  type OutcomeCoverage,
} from "./coverage-report.ts";
export { junit } from "./junit.ts";
export { describeActual, describeExpected } from "./outcome.ts";
export { MAX_CASES, parseSuite, type ParsedSuite } from "./parse.ts";
export { renderSuite } from "./render.ts";
export { partsOfTrace, testsIn } from "./tests-in.ts";
export { HANDSHAKE_HEADERS } from "./parse-websocket.ts";
export type {
  CaseResult,
  CoveredCondition,
  Expectation,
  EvaluatedCondition,
  EvaluatedPart,
  RuleCoverage,
  SampleAnswer,
  Suite,
  SuiteAnswer,
  SuiteCase,
  SuiteDecision,
  SuiteDelivery,
  SuiteInput,
  SuiteMessage,
  SuiteRequest,
  SuiteResult,
  SuiteSubject,
  SuiteVerdict,
} from "./types.ts";
