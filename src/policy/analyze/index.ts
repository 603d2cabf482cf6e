/**
 * What conditions can be, and what a change of a condition means. Pure; see docs/decisions/0060.
 */
export { changeOf, compareConditions, type Change, type Comparison } from "./compare.ts";
export { MISSING, UNRESTRICTED, type Candidate, type Domain, type Domains } from "./domain.ts";
export { confirmed, findAttributes, unconfirmed, type Finding, type Goal } from "./find-attributes.ts";
export { diffPolicySets } from "./diff.ts";
export { type RuleChange, type Witness } from "./rule-change.ts";
export { requestDomains, type RouteFacts } from "./request-domains.ts";
export { contains, FALSE, NOT_FALSE, NOT_TRUE, only, TRUE, UNKNOWN, type Verdicts } from "./verdicts.ts";
