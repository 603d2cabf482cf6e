import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createSuiteSubject } from "../decision/explain/index.ts";
import { SUITE_SUFFIX } from "../decision/policies/policy-folder.ts";
import { renderDiagnostics } from "../policy/evaluation.ts";
import {
  parseSuite,
  runSuite,
  type Suite,
  type SuiteResult,
  type SuiteSubject,
} from "../policy/suite/index.ts";
import { errorMessage } from "../text/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compileSet, withoutErrors } from "./policy-sets.ts";

/**
 * Runs the test suites of a folder of policy sets.
 *
 * @param names - of suites; all in the folder if empty
 */
export async function runSuites(directory: string, names: readonly string[]): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  for (const suite of await readSuites(directory, names))
    results.push(await runSuite(suite, await subjectOf(suite, directory)));
  return results;
}

async function readSuites(directory: string, names: readonly string[]): Promise<Suite[]> {
  const entries = names.length > 0 ? names : await suiteNames(directory);
  const suites: Suite[] = [];
  let broken = "";
  for (const name of entries) {
    const file = { name, text: await readFile(join(directory, name), "utf8").catch(unreadable(name)) };
    const { suite, diagnostics } = parseSuite(file);
    broken += renderDiagnostics([...diagnostics], [file]);
    if (suite !== undefined) suites.push(suite);
  }
  if (suites.length < entries.length) throw new ExitError(broken.trimEnd());
  return suites;
}

async function suiteNames(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(unreadable(directory));
  const found = names.filter((name) => name.endsWith(SUITE_SUFFIX)).sort();
  if (found.length === 0) throw new ExitError(`no *${SUITE_SUFFIX} in \`${directory}\``, EXIT_USAGE);
  return found;
}

function unreadable(name: string): (error: unknown) => never {
  return (error) => {
    throw new ExitError(`cannot read \`${name}\`: ${errorMessage(error)}`, EXIT_USAGE);
  };
}

async function subjectOf(suite: Suite, directory: string): Promise<SuiteSubject> {
  return createSuiteSubject(withoutErrors(await compileSet(directory, suite.policySet)));
}
