/**
 * What a process needs that evaluates compiled policy sets, and reads no policy language: the shared types, the matcher and
 * the conditions. The compiler with its parsers is in `index.ts`, and takes a tenth of a second to load.
 */
export type { Diagnostic, PolicyFile } from "./diagnostic.ts";
export * from "./ir.ts";
export * from "./value.ts";
export * from "./condition/evaluation.ts";
export { canonicalContent } from "./compile/canonical-content.ts";
export { conditionsOfSet, rulesOf, type PlacedCondition } from "./conditions-of.ts";
export { summarizeErrors } from "./diagnostics/summary.ts";
export { renderDiagnostics } from "./diagnostics/render.ts";
export {
  explainMatch,
  type AttributesFor,
  type FailingPart,
  type MatchExplanation,
  type NearRule,
} from "./match/explain-match.ts";
export {
  paramsOf,
  createMatcher,
  type Match,
  type Matchable,
  type Matcher,
  type MatcherOptions,
} from "./match/matcher.ts";
export { foldCase } from "./match/fold.ts";
export { createRuleIndex, type RuleIndex } from "./match/rule-index.ts";
export { isAttachedFile, mentionedFiles } from "./read/attached-file.ts";
export { CLAIM_MEMBERS } from "./roots.ts";
export { parsePattern } from "./pattern/parse-pattern.ts";
export * from "./graphql-ir.ts";
export * from "./plan.ts";
