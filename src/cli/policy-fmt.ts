import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { readPolicyFolder } from "../decision/policies/policy-folder.ts";
import { formatPolicyFile, isAttachedFile, renderDiagnostics } from "../policy/index.ts";
import { ExitError } from "./exit.ts";
import { directoryOption, policySetNames } from "./policy-sets.ts";

/** `gatehouse policy fmt`: formats policy files. */
export function policyFmtCommand(): Command {
  return new Command("fmt")
    .description(
      "format policy files in place; with --check only list the files that would change, exit code 1 if any",
    )
    .argument("[sets...]", "names of policy sets (default: all in the folder)")
    .addOption(directoryOption())
    .option("--check", "do not write, only list the files that would change")
    .action(async (names: string[], { directory, check }: { directory: string; check?: true }) => {
      let changed = 0;
      let broken = 0;
      for (const name of names.length > 0 ? names : await policySetNames(directory)) {
        const folder = await readPolicyFolder(directory, name);
        const unreadable = folder.diagnostics;
        if (unreadable.length > 0) process.stderr.write(renderDiagnostics([...unreadable], []));
        broken += unreadable.length;
        for (const file of folder.files.filter((file) => !isAttachedFile(file))) {
          const { text, diagnostics } = formatPolicyFile(file);
          if (text === undefined) {
            broken += 1;
            process.stderr.write(renderDiagnostics([...diagnostics], [file]));
          } else if (text !== file.text) {
            changed += 1;
            process.stdout.write(`${file.name}\n`);
            if (!check) await replace(join(directory, file.name), file.text, text);
          }
        }
      }
      if (broken > 0 || (check && changed > 0)) throw new ExitError("");
    });
}

/** Replaces the file by a rename, so that a gateway that watches it never reads half of it. */
async function replace(path: string, was: string, text: string): Promise<void> {
  if ((await readFile(path, "utf8")) !== was)
    throw new ExitError(`\`${path}\` changed while it was being formatted; run the command again`);
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}
