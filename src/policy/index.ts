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

export * from "./evaluation.ts";
export * from "./condition/index.ts";
export { POLICY_CODES } from "./diagnostics/codes.ts";
export { MAX_DIAGNOSTICS } from "./diagnostics/reporter.ts";
export { formatPolicyFile } from "./format/format-policy-file.ts";
