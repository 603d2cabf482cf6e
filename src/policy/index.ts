/**
 * Policy sets: text to intermediate form, requests to rules, conditions to verdicts. Pure; see README.md.
 */
import { checkPolicySet, type DeploymentContext } from "./check/index.ts";
import { compileSource } from "./compile/compile.ts";
import { withAttachedFiles } from "./compile/with-attached-files.ts";
import type { Diagnostic, PolicyFile } from "./diagnostic.ts";
import { Reporter } from "./diagnostics/reporter.ts";
import type { PolicySetIR } from "./ir.ts";
import { isAttachedFile, readPolicySet } from "./read/index.ts";
import { parseFiles } from "./syntax/index.ts";

/**
 * Compiles a policy set: parse, read, check, compile. Never throws, and takes bounded time whatever the files contain.
 *
 * @param files - the policy files, merged in the order of their names by code unit; and the files that
 *   `graphql.schema` and `graphql.persisted` name
 * @param options - `name` is the set's name if no file has `policy_set`; without either it is `default`.
 *   `severalProviders`: a role holds only at the user's customer, so rules that do not compare the customer get a
 *   warning
 * @returns every finding, by file, line and column, and the set, unless a finding is an error
 */
export function compilePolicySet(
  files: readonly PolicyFile[],
  options: { readonly name?: string } & DeploymentContext = {},
): { ir?: PolicySetIR; diagnostics: Diagnostic[] } {
  const report = new Reporter();
  const documents = parseFiles(
    files.filter((file) => !isAttachedFile(file)),
    report,
  );
  const source = withAttachedFiles(readPolicySet(documents, report), files, report);
  checkPolicySet(source, report, options);
  const diagnostics = report.diagnostics();
  return report.clean
    ? { ir: compileSource(source, options.name ?? "default"), diagnostics }
    : { diagnostics };
}

export type { Diagnostic, PolicyFile } from "./diagnostic.ts";
export * from "./ir.ts";
export * from "./value.ts";
export * from "./condition/index.ts";
export { canonicalContent } from "./compile/canonical-content.ts";
export { conditionsOfSet, rulesOf, type PlacedCondition } from "./conditions-of.ts";
export { POLICY_CODES } from "./diagnostics/codes.ts";
export { summarizeErrors } from "./diagnostics/summary.ts";
export { renderDiagnostics } from "./diagnostics/render.ts";
export { MAX_DIAGNOSTICS } from "./diagnostics/reporter.ts";
export { formatPolicyFile } from "./format/format-policy-file.ts";
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
