/**
 * Policy sets: text to intermediate form, requests to rules, conditions to verdicts. Pure; see README.md.
 */
import { checkPolicySet } from "./check/index.ts";
import { compileSource } from "./compile/compile.ts";
import type { Diagnostic, PolicyFile } from "./diagnostic.ts";
import { Reporter } from "./diagnostics/reporter.ts";
import type { PolicySetIR } from "./ir.ts";
import { readPolicySet } from "./read/index.ts";
import { parseFiles } from "./syntax/index.ts";

/**
 * Compiles a policy set: parse, read, check, compile. Never throws, and takes bounded time whatever the files hold.
 *
 * @param files - merged in the order of their names, which is by code unit
 * @param options - `name` is the set's name where no file says `policy_set`; without both it is `default`
 * @returns every finding, by file, line and column, and the set, unless a finding is an error
 */
export function compilePolicySet(
  files: readonly PolicyFile[],
  options: { readonly name?: string } = {},
): { ir?: PolicySetIR; diagnostics: Diagnostic[] } {
  const report = new Reporter();
  const documents = parseFiles(files, report);
  const source = readPolicySet(documents, report);
  checkPolicySet(source, report);
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
export { POLICY_CODES } from "./diagnostics/codes.ts";
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
export { createMatcher, type Match, type Matcher, type MatcherOptions } from "./match/matcher.ts";
