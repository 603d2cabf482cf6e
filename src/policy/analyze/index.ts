/**
 * What conditions can be, and what a change of a condition means. Pure; see docs/decisions/0060.
 */
export { changeOf, compareConditions, type Change, type Comparison } from "./compare.ts";
export { MISSING, UNRESTRICTED, type Candidate, type Domain, type Domains } from "./domain.ts";
export { contradictoryParts } from "./contradictory-parts.ts";
export { contradictoryTerms, readsAgain } from "./contradictory-terms.ts";
export { Effort } from "./effort.ts";
export { confirmed, findAttributes, unconfirmed, type Finding, type Goal } from "./find-attributes.ts";
export { diffPolicySets } from "./diff.ts";
export { areMethodsShared } from "./overlap.ts";
export { redundantTo } from "./redundant.ts";
export { RulesByPath } from "./rules-by-path.ts";
export { type RuleChange, type Witness } from "./rule-change.ts";
export { requestDomains, textDomains, type RouteFacts } from "./request-domains.ts";
export { contains, FALSE, NOT_FALSE, NOT_TRUE, only, TRUE, UNKNOWN, type Verdicts } from "./verdicts.ts";
