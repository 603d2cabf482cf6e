import { existsSync, readFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { createSnapshot, type Snapshot } from "../decision/policies/snapshot.ts";
import {
  readDecisionRecord,
  rememberHashes,
  replayRecord,
  type ReplayedSets,
} from "../decision/replay/index.ts";
import { connectionFailure } from "../identity/connection-failure.ts";
import { isUrl } from "../identity/secure-url.ts";
import { inputHashIn } from "../processes/gateway/input-protection.ts";
import { errorMessage } from "../text/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compileSet, policySetNames, withoutErrors } from "./policy-sets.ts";
import { progressBar } from "./progress.ts";
import { recordLines } from "./record-lines.ts";
import { openRecords, type RecordSource } from "./record-source.ts";
import { ReplayReport } from "./replay-report.ts";

interface ReplayOptions {
  readonly records: readonly string[];
  readonly rotated?: true;
  readonly apiKeyFile?: string;
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
      "--records <source...>",
      "records of gateways with `audit.inputs: true`: JSON lines in a file, also .gz, or at an https address",
    )
    .option("--api-key-file <file>", "file that contains only the API key for addresses")
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
  const apiKey = options.apiKeyFile === undefined ? undefined : apiKeyIn(options.apiKeyFile);
  const locations = options.records.flatMap((file) =>
    options.rotated ? [...rotatedOf(file), file] : [file],
  );
  for (const location of locations)
    if (!isUrl(location) && !existsSync(location))
      throw new ExitError(`there is no file \`${location}\``, EXIT_USAGE);
  const report = new ReplayReport();
  for (const [index, location] of locations.entries()) {
    const part = locations.length > 1 ? ` (${index + 1} of ${locations.length})` : "";
    await orUnreadable(location, async () => {
      const source = await openRecords(location, apiKey);
      await replaySource(source, sets, report, part);
    });
  }
  return report;
}

async function replaySource(source: RecordSource, sets: ReplayedSets, report: ReplayReport, part: string) {
  const bar = progressBar(source.size, part);
  try {
    for await (const lines of recordLines(source, (bytes) => {
      bar.update(bytes);
    }))
      for (const line of lines) {
        if ("problem" in line) {
          report.addBadLine(source.name, line.line, line.problem);
          continue;
        }
        const record = readDecisionRecord(line.value);
        if (typeof record === "string") report.addBadLine(source.name, line.line, record);
        else if ("event" in record) report.addOther(record.event);
        else report.add(replayRecord(record, sets));
      }
  } finally {
    bar.end();
  }
}

async function orUnreadable(location: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // what follows `?` may be a signature
    const [name = ""] = location.split("?", 1);
    const cut = isUrl(location) ? connectionFailure(error, new URL(location)) : undefined;
    throw new ExitError(`cannot read the records \`${name}\`: ${cut ?? errorMessage(error)}`, EXIT_USAGE);
  }
}

function apiKeyIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ExitError(`cannot read \`--api-key-file\`: ${errorMessage(error)}`, EXIT_USAGE);
  }
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new ExitError("`--api-key-file` must contain only an API key", EXIT_USAGE);
  return text;
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
    return rememberHashes(inputHashIn("--key-file", file));
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

function percent(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0 && number <= 100))
    throw new InvalidArgumentError("is not a percentage");
  return number;
}
