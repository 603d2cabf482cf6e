import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { SUITE_SUFFIX } from "../decision/policies/policy-folder.ts";
import { renderDiagnostics } from "../policy/evaluation.ts";
import {
  allPassed,
  coverageBySet,
  coverageGap,
  junit,
  parseSuite,
  renderSuite,
  runSuite,
  type Suite,
  type SuiteResult,
  type SuiteSubject,
} from "../policy/suite/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compileSet, directoryOption, withoutErrors } from "./policy-sets.ts";
import { createSuiteSubject } from "./suite-subject.ts";
import { errorMessage } from "../text/index.ts";

interface TestOptions {
  readonly directory: string;
  readonly junit?: string;
  readonly requireCoverage?: true;
}

/** `gatehouse policy test`: runs the test suites beside the policies. */
export function policyTestCommand(): Command {
  return new Command("test")
    .description("run the *.test.yaml suites beside the policy sets; exit code 1 if a test fails")
    .argument("[files...]", "names of suites (default: all in the folder)")
    .addOption(directoryOption())
    .option("--junit <file>", "also write the results as JUnit XML")
    .option("--require-coverage", "also fail if a condition was not evaluated to every outcome")
    .action(async (names: string[], options: TestOptions) => {
      const suites = await readSuites(options.directory, names);
      const results: SuiteResult[] = [];
      for (const suite of suites)
        results.push(await runSuite(suite, await subjectOf(suite, options.directory)));
      process.stdout.write(renderSuite(results));
      if (options.junit !== undefined) await writeFile(options.junit, junit(results));
      const covered = [...coverageBySet(results).values()].flat().every((rule) => coverageGap(rule) === "");
      if (!allPassed(results) || (options.requireCoverage && !covered)) throw new ExitError("");
    });
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
