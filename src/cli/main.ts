import { AssertionError } from "node:assert";
import { Command, CommanderError } from "commander";
import { endWithNpm } from "./end-with-npm.ts";
import { EXIT_FINDINGS, EXIT_USAGE, ExitError } from "./exit.ts";
import { manifest } from "./manifest.ts";

/** Every command, in the order of `--help`. Each is loaded on demand, because most need only a small part of the program. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import("./up.ts")).upCommand(),
  "control-plane": async () => (await import("./control-plane.ts")).controlPlaneCommand(),
  gateway: async () => (await import("./gateway.ts")).gatewayCommand(),
  authz: async () => (await import("./authz.ts")).authzCommand(),
  "envoy-config": async () => (await import("./envoy.ts")).envoyConfigCommand(),
  "envoy-install": async () => (await import("./envoy.ts")).envoyInstallCommand(),
  keys: async () => {
    const { openForCommand } = await import("./open-environment.ts");
    const { rotateMasterCommand } = await import("./rotate-master.ts");
    const { keysCommand } = await import("./keys.ts");
    return keysCommand(openForCommand).addCommand(rotateMasterCommand(openForCommand));
  },
  "owner-link": async () => {
    const { openForCommand } = await import("./open-environment.ts");
    return (await import("./owner-link.ts")).ownerLinkCommand(openForCommand);
  },
  owners: async () => {
    const { openForCommand } = await import("./open-environment.ts");
    return (await import("./owners.ts")).ownersCommand(openForCommand);
  },
  migrate: async () => {
    const { locateDatabases } = await import("./open-environment.ts");
    return (await import("./migrate.ts")).migrateCommand(locateDatabases);
  },
  backup: async () => (await import("./backup.ts")).backupCommand(),
  restore: async () => (await import("./backup.ts")).restoreCommand(),
  replay: async () => (await import("./replay.ts")).replayCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
  policy: async () => (await import("./policy.ts")).policyCommand(),
  demo: async () => (await import("./demo.ts")).demoCommand(),
};

/**
 * Runs the command line. Exit codes: 0 good, 1 findings or failure, 2 wrong usage.
 *
 * @param startedByNpm - whether npm or npx has started it
 */
export async function main(argv: readonly string[], startedByNpm = false): Promise<void> {
  if (startedByNpm) endWithNpm();
  const program = await programFor(argv[2]);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/**
 * The program with the requested command, or with all of them if that is unknown or absent. It throws where the command line is
 * wrong, instead of ending the process.
 */
export async function programFor(name?: string): Promise<Command> {
  const program = new Command("gatehouse")
    .description("identity and access platform: a control plane, and a gateway that enforces rules")
    .version(manifest().version)
    .showSuggestionAfterError()
    .exitOverride();
  for (const command of await commandsFor(name)) program.addCommand(inherit(command));
  return program;
}

/** Loads the requested command, or all of them if it is unknown, for the help and for the nearest name. */
function commandsFor(name: string | undefined): Promise<readonly Command[]> {
  const asked = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return Promise.all((asked === undefined ? Object.values(COMMANDS) : [asked]).map((load) => load()));
}

/** Subcommands do not inherit `exitOverride` through `addCommand`. */
function inherit(command: Command): Command {
  command.exitOverride().showSuggestionAfterError();
  for (const child of command.commands) inherit(child);
  return command;
}

function report(error: unknown): number {
  // commander has printed its own message; its exit code is 0 for --help and --version
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof ExitError) {
    if (error.message !== "") process.stderr.write(`${error.message}\n`);
    return error.code;
  }
  process.stderr.write(`gatehouse: ${described(error)}\n`);
  return EXIT_FINDINGS;
}

/** A bug is printed with its stack. Every other error is for the user to act on, and its message says how. */
function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBug = [TypeError, ReferenceError, RangeError, SyntaxError, AssertionError].some(
    (kind) => error instanceof kind,
  );
  if (isBug) return error.stack ?? error.message;
  if (error.message !== "") return error.message;
  // none of several addresses responded
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.map((one) => described(one)).join("; ");
  return error.stack ?? error.name;
}
