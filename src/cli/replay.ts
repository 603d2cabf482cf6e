import { existsSync, statSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { createSnapshot, type Snapshot } from "../decision/policies/snapshot.ts";
import { readDecisionRecord, replayRecord, type ReplayedSets } from "../decision/replay/index.ts";
import { inputHashIn } from "../processes/gateway/input-protection.ts";
import { errorMessage } from "../text/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compileSet, policySetNames, withoutErrors } from "./policy-sets.ts";
import { progressBar } from "./progress.ts";
import { recordLines } from "./record-lines.ts";
import { ReplayReport } from "./replay-report.ts";

interface ReplayOptions {
  readonly records: readonly string[];
  readonly rotated?: true;
  readonly candidate: string;
  readonly stable?: string;
  readonly policySet?: string;
  readonly keyFile?: string;
  readonly caseSensitive?: true;
  readonly minCoverage: number;
  readonly json?: true;
}

/** `gatehouse replay`: decides recorded requests again with another policy set. */
export function replayCommand(): Command {
  return new Command("replay")
    .description(
      "decide recorded requests again with another policy set: who would lose access, who would gain it; " +
        "exit code 0 no change, 1 changes, 2 wrong usage",
    )
    .requiredOption(
      "--records <file...>",
      "records of a gateway with `audit.inputs: true`: JSON lines, also .gz",
    )
    .option("--rotated", "also the rotated files of each (FILE.1, FILE.2, ...)")
    .requiredOption("--candidate <folder>", "folder with the policy set to try")
    .option(
      "--stable <folder>",
      "folder with the set that was in force: must give each recorded verdict again",
    )
    .option("--policy-set <name>", "name of the policy set (default: the only one in the folder)")
    .option("--key-file <file>", "the key of hashed values (`audit.inputs_key_file` of the gateway)")
    .option(
      "--case-sensitive",
      "treat paths that differ only in letter case as different, as the gateway does",
    )
    .option("--min-coverage <percent>", "exit code 1 if fewer decisions can be replayed", percent, 0)
    .option("--json", "print the result as JSON")
    .action(async (options: ReplayOptions) => {
      const report = await replay(options);
      process.stdout.write(options.json ? `${JSON.stringify(report.toJson(), null, 2)}\n` : report.toText());
      if (report.hasFindings || report.coverage === 0 || report.coverage * 100 < options.minCoverage)
        throw new ExitError("");
    });
}

async function replay(options: ReplayOptions): Promise<ReplayReport> {
  const { keyFile } = options;
  const sets: ReplayedSets = {
    candidate: await snapshotIn(options.candidate, options),
    ...(options.stable !== undefined && { stable: await snapshotIn(options.stable, options) }),
    ...(keyFile !== undefined && { hash: keyOf(keyFile) }),
  };
  const files = options.records.flatMap((file) => (options.rotated ? [...rotatedOf(file), file] : [file]));
  const sizes = files.map(sizeOf);
  const bar = progressBar(sizes.reduce((sum, size) => sum + size, 0));
  const report = new ReplayReport();
  let done = 0;
  for (const [index, file] of files.entries()) {
    const before = done;
    try {
      for await (const lines of recordLines(file, (bytes) => {
        bar.update(before + bytes);
      }))
        for (const line of lines) {
          if ("problem" in line) {
            report.addBadLine(file, line.line, line.problem);
            continue;
          }
          const record = readDecisionRecord(line.value);
          if (typeof record === "string") report.addBadLine(file, line.line, record);
          else if ("event" in record) report.addOther(record.event);
          else report.add(replayRecord(record, sets));
        }
    } catch (error) {
      bar.end();
      throw new ExitError(`cannot read the records \`${file}\`: ${errorMessage(error)}`, EXIT_USAGE);
    }
    done = before + (sizes[index] ?? 0);
  }
  bar.end();
  return report;
}

async function snapshotIn(folder: string, { policySet, caseSensitive }: ReplayOptions): Promise<Snapshot> {
  const names = policySet === undefined ? await policySetNames(folder) : [policySet];
  const [name, ...others] = names;
  if (name === undefined || others.length > 0)
    throw new ExitError(`\`${folder}\` has several policy sets: choose one with --policy-set`, EXIT_USAGE);
  const ir = withoutErrors(await compileSet(folder, name));
  return createSnapshot(ir, { caseSensitive: caseSensitive === true });
}

function keyOf(file: string) {
  try {
    return inputHashIn("--key-file", file);
  } catch (error) {
    throw new ExitError(errorMessage(error), EXIT_USAGE);
  }
}

/** The oldest first. */
function rotatedOf(file: string): readonly string[] {
  const found: string[] = [];
  for (let number = 1; existsSync(`${file}.${number}`); number++) found.unshift(`${file}.${number}`);
  return found;
}

function sizeOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new ExitError(`there is no file \`${file}\``, EXIT_USAGE);
  return found.size;
}

function percent(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0 && number <= 100))
    throw new InvalidArgumentError("is not a percentage");
  return number;
}
