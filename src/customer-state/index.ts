export { stepUpChallenge, stepUpOf, type StepUp } from "./step-up.ts";
export { strictest } from "./strictest.ts";
export type {
  AuthenticationConditions,
  AuthenticationFacts,
  AuthenticationRules,
  CustomerState,
  Violation,
} from "./types.ts";
export { inRanges, MAX_SECONDS_AHEAD, provesMultipleFactors, violationOf } from "./violation.ts";
