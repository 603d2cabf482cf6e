import { Command, Option } from "commander";
import { DOOR_ABILITIES } from "../authorizers/index.ts";
import { findNotProvided, type NotProvided, type Provisions } from "../decision/policies/not-provided.ts";
import { digestOf } from "../decision/policies/snapshot.ts";
import { MAX_DIAGNOSTICS, renderDiagnostics, rulesOf, type Diagnostic } from "../policy/index.ts";
import { atDoor } from "./policy-at-door.ts";
import { provisionsOf } from "../processes/gateway/provisions.ts";
import { counted } from "../text/index.ts";
import { ExitError } from "./exit.ts";
import { loadConfig } from "./options.ts";
import { compileSet, directoryOption, policySetNames, type CompiledSet } from "./policy-sets.ts";

interface ValidateOptions {
  readonly directory: string;
  readonly config?: string;
  readonly door?: string;
  readonly json?: true;
}

/** `gatehouse policy validate`: reports every problem of the policy sets at once. */
export function policyValidateCommand(): Command {
  return new Command("validate")
    .description("check policy sets; exit code 1 if one has an error")
    .argument("[sets...]", "names of policy sets (default: all in the folder)")
    .addOption(directoryOption())
    .option(
      "-c, --config <file>",
      "gateway.yaml that the sets will run with: everything they read must be configured there; its " +
        "`policies.directory` is the default for --directory",
    )
    .addOption(
      new Option(
        "--door <proxy>",
        "report the rules that Gatehouse cannot enforce behind this proxy, or for these callers",
      ).choices(Object.keys(DOOR_ABILITIES)),
    )
    .option("--json", "print the diagnostics as JSON")
    .action(async (names: string[], options: ValidateOptions, command: Command) => {
      const config = options.config === undefined ? undefined : loadConfig(options.config, []);
      const isGiven = command.getOptionValueSource("directory") !== "default";
      const directory = config === undefined || isGiven ? options.directory : config.policies.directory;
      const provisions = config && provisionsOf(config);
      // each customer of the control plane may have its own provider
      const severalProviders = config?.control_plane.url !== undefined;
      const sets = [];
      for (const name of names.length > 0 ? names : await policySetNames(directory)) {
        const compiled = await compileSet(directory, name, { severalProviders });
        const unenforced = options.door === undefined ? [] : atDoor(compiled, options.door);
        sets.push(withErrors(checkedAgainst(compiled, provisions), unenforced));
      }
      process.stdout.write(options.json ? reportOf(sets) : sets.map(render).join(""));
      if (sets.some(({ ir }) => ir === undefined)) throw new ExitError("");
    });
}

/** @returns the set, without its compiled form if a gateway with that configuration lacks something that it reads */
function checkedAgainst(set: CompiledSet, provisions: Provisions | undefined): CompiledSet {
  const { ir } = set;
  if (ir === undefined || provisions === undefined) return set;
  return withErrors(set, findNotProvided(ir, provisions).map(toDiagnostic));
}

function withErrors(set: CompiledSet, found: readonly Diagnostic[]): CompiledSet {
  if (found.length === 0) return set;
  const { ir: _uncompiled, ...uncompiled } = set;
  const diagnostics = [...set.diagnostics, ...capped(found)].sort(byPlace);
  return { ...uncompiled, diagnostics };
}

function toDiagnostic({ code, message, hint, at }: NotProvided): Diagnostic {
  return { severity: "error", code, message, ...at, length: 1, hint };
}

function capped(found: readonly Diagnostic[]): readonly Diagnostic[] {
  const shown = found.slice(0, MAX_DIAGNOSTICS);
  const last = shown.at(-1);
  const more = found.length - shown.length;
  if (last === undefined || more === 0) return shown;
  const { severity, file, line, column, length } = last;
  const message = `${counted(more, "more finding")} not shown`;
  return [...shown, { severity, code: "more-findings", message, file, line, column, length }];
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

function reportOf(sets: readonly CompiledSet[]): string {
  const report = sets.map(({ name, ir, diagnostics }) => ({
    policy_set: name,
    valid: ir !== undefined,
    diagnostics,
  }));
  return `${JSON.stringify(report, null, 2)}\n`;
}

function render({ name, ir, files, diagnostics }: CompiledSet): string {
  const findings =
    diagnostics.length === 0 ? "" : `${renderDiagnostics([...diagnostics], [...files]).trimEnd()}\n`;
  if (ir === undefined) return `${findings}${name}: has errors\n`;
  const count = rulesOf(ir).length;
  const digest = digestOf(ir).slice(0, 12);
  return `${findings}${ir.name}@${ir.version}: good, ${counted(count, "rule")}, digest ${digest}\n`;
}
