import { Command } from "commander";
import { digestOf } from "../decision/snapshot.ts";
import { renderDiagnostics } from "../policy/index.ts";
import { ExitError } from "./exit.ts";
import { compileSet, directoryOption, policySetNames } from "./policy-sets.ts";

/** `gatehouse policy validate`: everything that is wrong with the policy sets, at once. */
export function policyValidateCommand(): Command {
  return new Command("validate")
    .description("check policy sets; exit code 1 when one has an error")
    .argument("[sets...]", "names of policy sets (default: all of the folder)")
    .addOption(directoryOption())
    .option("--json", "diagnostics as JSON")
    .action(async (names: string[], { directory, json }: { directory: string; json?: true }) => {
      const sets = [];
      for (const name of names.length > 0 ? names : await policySetNames(directory)) {
        sets.push(await compileSet(directory, name));
      }
      if (json) {
        const report = sets.map(({ name, ir, diagnostics }) => ({
          policy_set: name,
          valid: ir !== undefined,
          diagnostics,
        }));
        process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
      }
      for (const { name, ir, files, diagnostics } of json ? [] : sets) {
        if (diagnostics.length > 0)
          process.stdout.write(`${renderDiagnostics([...diagnostics], [...files]).trimEnd()}\n`);
        if (ir !== undefined) {
          process.stdout.write(
            `${ir.name}@${ir.version}: good, ${ir.rules.length} rules, digest ${digestOf(ir).slice(0, 12)}\n`,
          );
        } else process.stdout.write(`${name}: has errors\n`);
      }
      if (sets.some(({ ir }) => ir === undefined)) throw new ExitError("");
    });
}
