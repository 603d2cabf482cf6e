import { Command, InvalidArgumentError } from "commander";
import {
  allPassed,
  coverageBySet,
  percentText,
  renderCoverageReports,
  reportCoverage,
  type CoverageReport,
} from "../policy/suite/index.ts";
import { ExitError } from "./exit.ts";
import { directoryOption } from "./policy-sets.ts";
import { runSuites } from "./run-suites.ts";

interface CoverageOptions {
  readonly directory: string;
  readonly json?: true;
  readonly failUnder?: number;
}

/** `gatehouse policy coverage`: which verdicts of conditions and their parts the tests never show. */
export function policyCoverageCommand(): Command {
  return new Command("coverage")
    .description("list which parts of conditions the *.test.yaml suites never make true, false or unknown")
    .argument("[files...]", "names of suites (default: all in the folder)")
    .addOption(directoryOption())
    .option("--json", "print the coverage as JSON")
    .option("--fail-under <percent>", "exit code 1 if a policy set has less", percent)
    .action(async (names: string[], { directory, json, failUnder = 0 }: CoverageOptions) => {
      const results = await runSuites(directory, names);
      const reports = [...coverageBySet(results)].map(([set, rules]) => reportCoverage(set, rules));
      process.stdout.write(json ? jsonOf(reports) : renderCoverageReports(reports));
      if (!allPassed(results)) throw new ExitError("tests failed: see `gatehouse policy test`");
      const [low] = reports.filter((report) => report.percent < failUnder);
      if (low !== undefined)
        throw new ExitError(`${low.policySet}: ${percentText(low.percent)} % is less than ${failUnder} %`);
    });
}

function percent(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 100))
    throw new InvalidArgumentError("expected a number from 0 to 100");
  return value;
}

function jsonOf(reports: readonly CoverageReport[]): string {
  const sets = reports.map(({ policySet, conditions, ...sums }) => ({
    policy_set: policySet,
    ...sums,
    conditions,
  }));
  return `${JSON.stringify({ sets }, null, 2)}\n`;
}
