import { writeFile } from "node:fs/promises";
import { Command } from "commander";
import { allPassed, coverageBySet, coverageGap, junit, renderSuite } from "../policy/suite/index.ts";
import { ExitError } from "./exit.ts";
import { directoryOption } from "./policy-sets.ts";
import { runSuites } from "./run-suites.ts";

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
      const results = await runSuites(options.directory, names);
      process.stdout.write(renderSuite(results));
      if (options.junit !== undefined) await writeFile(options.junit, junit(results));
      const covered = [...coverageBySet(results).values()].flat().every((rule) => coverageGap(rule) === "");
      if (!allPassed(results) || (options.requireCoverage && !covered)) throw new ExitError("");
    });
}
