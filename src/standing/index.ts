export { strictest } from "./strictest.ts";
export type {
  AuthenticationConditions,
  AuthenticationFacts,
  AuthenticationRules,
  CustomerStanding,
  Violation,
} from "./types.ts";
export { inRanges, provesMultipleFactors, violationOf } from "./violation.ts";
