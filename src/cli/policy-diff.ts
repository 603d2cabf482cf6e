import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Command, Option } from "commander";
import {
  createSuiteSubject,
  replayChange,
  type ReplayedChange,
  type ReplayedWitness,
} from "../decision/explain/index.ts";
import { diffPolicySets } from "../policy/analyze/index.ts";
import { UNAVAILABLE, type PolicySetIR } from "../policy/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compileSet, withoutErrors } from "./policy-sets.ts";

interface DiffOptions {
  readonly json?: true;
  readonly markdown?: true;
  readonly failOn?: "widened" | "narrowed" | "any";
}

/** `gatehouse policy diff`: what a change of a policy set means for requests. */
export function policyDiffCommand(): Command {
  return new Command("diff")
    .description("tell which rules permit more or less after a change, each with a request that shows it")
    .argument("<before>", "a policy set: its file or folder")
    .argument("<after>", "the same after the change")
    .option("--json", "print the changes as JSON")
    .addOption(new Option("--markdown", "print a table for a pull request").conflicts("json"))
    .addOption(
      new Option("--fail-on <what>", "exit with 1 if a rule is wider, narrower, or differs at all").choices([
        "widened",
        "narrowed",
        "any",
      ]),
    )
    .action(async (before: string, after: string, options: DiffOptions) => {
      const [old, now] = [await readSet(before), await readSet(after)];
      const [oldSubject, nowSubject] = [createSuiteSubject(old), createSuiteSubject(now)];
      const changes: ReplayedChange[] = [];
      for (const change of diffPolicySets(old, now))
        changes.push(await replayChange(change, oldSubject, nowSubject));
      process.stdout.write(
        options.json
          ? jsonOf(changes)
          : options.markdown
            ? markdownOf(changes)
            : changes.map(textOf).join("") || "no rule differs\n",
      );
      if (changes.some((change) => isFinding(change, options.failOn))) throw new ExitError("");
    });
}

async function readSet(path: string): Promise<PolicySetIR> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new ExitError(`\`${path}\` does not exist`, EXIT_USAGE);
  const name = basename(path).replace(/\.yaml$/, "");
  return withoutErrors(await compileSet(dirname(path), name));
}

/** What is undecided may be anything. */
function isFinding({ change }: ReplayedChange, failOn: DiffOptions["failOn"]): boolean {
  if (failOn === undefined || change === "equivalent") return false;
  if (failOn === "any" || change === "undecided" || change === "incomparable") return true;
  return change === (failOn === "widened" ? "wider" : "narrower");
}

/** What JSON cannot express: a source that failed, and a number that is not exact. */
function written(_: string, value: unknown): unknown {
  if (value === UNAVAILABLE) return "<unavailable>";
  return typeof value === "number" && Number.isNaN(value) ? "<a number that is not exact>" : value;
}

function jsonOf(changes: readonly ReplayedChange[]): string {
  return `${JSON.stringify({ changes }, written, 2)}\n`;
}

function textOf(change: ReplayedChange): string {
  return [
    `${change.change.padEnd(12)} ${change.resource}  (${placeOf(change)})`,
    ...change.notes.map((note) => `  ${note}`),
    ...describe("only after", change.gained),
    ...describe("only before", change.lost),
    "",
  ].join("\n");
}

function placeOf({ section, before, after }: ReplayedChange): string {
  const at = (after ?? before)?.at;
  return at === undefined ? section : `${at.file}:${at.line}`;
}

function describe(when: string, witness: ReplayedChange["gained"]): string[] {
  if (witness === undefined) return [];
  const attributes = JSON.stringify(witness.attributes, written);
  if (!isReplayed(witness)) return [`  ${when}: ${attributes}`];
  const { input, before, after } = witness;
  return [
    `  ${when}: ${input.request.method} ${input.request.path ?? ""} ${attributes}`,
    ...[`before: ${before.explanation ?? ""}`, `after: ${after.explanation ?? ""}`]
      .flatMap((text) => text.trimEnd().split("\n"))
      .map((line) => `    ${line}`),
  ];
}

function isReplayed(witness: NonNullable<ReplayedChange["gained"]>): witness is ReplayedWitness {
  return "input" in witness;
}

function markdownOf(changes: readonly ReplayedChange[]): string {
  const rows = changes.map(
    (change) =>
      `| ${[change.change, cell(change.resource), exampleOf(change.gained), exampleOf(change.lost), change.notes.map(cell).join("; ")].join(" | ")} |`,
  );
  return [
    "| change | rule | only after | only before | notes |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function exampleOf(witness: ReplayedChange["gained"]): string {
  if (witness === undefined) return "";
  const request = isReplayed(witness)
    ? `${witness.input.request.method} ${witness.input.request.path ?? ""} `
    : "";
  return cell(request + JSON.stringify(witness.attributes, written));
}

/** As code, without anything that would end the cell. */
function cell(text: string): string {
  const safe = text.replaceAll("`", "'").replaceAll("|", "\\|").replaceAll("\n", " ");
  return `\`${safe}\``;
}
