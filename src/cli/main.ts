import { Command, CommanderError } from "commander";
import { authzCommand } from "./authz.ts";
import { demoCommand } from "./demo.ts";
import { envoyConfigCommand, envoyInstallCommand } from "./envoy.ts";
import { ExitError, EXIT_FINDINGS, EXIT_USAGE } from "./exit.ts";
import { gatewayCommand } from "./gateway.ts";
import { policyCommand } from "./policy.ts";
import { upCommand } from "./up.ts";
import { version } from "./version.ts";

/** Runs the command line. Exit codes: 0 good, 1 findings or failure, 2 wrong usage. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("gatehouse")
    .description("identity and access platform: a gateway that enforces policies in front of applications")
    .version(version())
    .showSuggestionAfterError()
    .exitOverride();
  const commands = [
    upCommand(),
    gatewayCommand(),
    authzCommand(),
    envoyConfigCommand(),
    envoyInstallCommand(),
    policyCommand(),
    demoCommand(),
  ];
  for (const command of commands) program.addCommand(inherit(command));
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** `exitOverride` is not passed on by `addCommand`. */
function inherit(command: Command): Command {
  command.exitOverride().showSuggestionAfterError();
  for (const child of command.commands) inherit(child);
  return command;
}

function report(error: unknown): number {
  // commander has printed its own message; it gives 0 for --help and --version
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof ExitError) {
    if (error.message !== "") process.stderr.write(`${error.message}\n`);
    return error.code;
  }
  process.stderr.write(
    `gatehouse: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return EXIT_FINDINGS;
}
