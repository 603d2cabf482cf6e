import { Command } from "commander";
import { policyCoverageCommand } from "./policy-coverage.ts";
import { policyDiffCommand } from "./policy-diff.ts";
import { policyExplainCommand } from "./policy-explain.ts";
import { policyFmtCommand } from "./policy-fmt.ts";
import { policyTestCommand } from "./policy-test.ts";
import { policyValidateCommand } from "./policy-validate.ts";

/** `gatehouse policy ...`: commands for policies that need no running service. */
export function policyCommand(): Command {
  return new Command("policy")
    .description("validate, format, compare, test and explain policy sets")
    .addCommand(policyValidateCommand())
    .addCommand(policyFmtCommand())
    .addCommand(policyDiffCommand())
    .addCommand(policyTestCommand())
    .addCommand(policyCoverageCommand())
    .addCommand(policyExplainCommand());
}
