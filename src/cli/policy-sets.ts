import { readdir } from "node:fs/promises";
import { Option } from "commander";
import {
  compilePolicySet,
  renderDiagnostics,
  type Diagnostic,
  type PolicyFile,
  type PolicySetIR,
} from "../policy/index.ts";
import { readPolicyFolder, SUITE_SUFFIX } from "../decision/policies/policy-folder.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";

/** `--directory` of the policy commands. */
export const directoryOption = () =>
  new Option("-d, --directory <folder>", "folder with the policy sets").default("policies");

/** A policy set compiled from its files. */
export interface CompiledSet {
  readonly name: string;
  readonly files: readonly PolicyFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly ir?: PolicySetIR;
}

/**
 * Reads and compiles one policy set. Never rejects: problems are in its diagnostics.
 *
 * @param options - `severalProviders`: the identity providers of several customers assign roles
 */
export async function compileSet(
  directory: string,
  name: string,
  options: { readonly severalProviders?: boolean } = {},
): Promise<CompiledSet> {
  const { files, diagnostics } = await readPolicyFolder(directory, name);
  if (diagnostics.length > 0) return { name, files, diagnostics };
  return { name, files, ...compilePolicySet([...files], { name, ...options }) };
}

/** @throws ExitError with the diagnostics if the set has errors */
export function withoutErrors({ ir, diagnostics, files }: Omit<CompiledSet, "name">): PolicySetIR {
  if (ir === undefined) throw new ExitError(renderDiagnostics([...diagnostics], [...files]).trimEnd());
  return ir;
}

/**
 * @returns the names of the policy sets in the folder: its `.yaml` files, and its subfolders that contain any
 * @throws ExitError if the folder is not readable or contains none
 */
export async function policySetNames(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw new ExitError(`cannot read the folder \`${directory}\`: ${String(error)}`, EXIT_USAGE);
  });
  const isPolicy = (name: string) =>
    name.endsWith(".yaml") && !name.endsWith(SUITE_SUFFIX) && !name.startsWith(".");
  const names = await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isDirectory()) return isPolicy(entry.name) ? [entry.name.slice(0, -".yaml".length)] : [];
      const inside = await readdir(`${directory}/${entry.name}`);
      return inside.some(isPolicy) ? [entry.name] : [];
    }),
  );
  const found = [...new Set(names.flat())].sort();
  if (found.length === 0) throw new ExitError(`no policy set in \`${directory}\``, EXIT_USAGE);
  return found;
}
