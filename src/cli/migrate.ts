import { Command, Option } from "commander";
import {
  closeDatabase,
  migrate,
  openDatabase,
  pendingMigrations,
  provideDatabases,
} from "../storage/index.ts";
import type { Database, DatabaseEnvironment, DatabaseLocation } from "../storage/index.ts";
import { EXIT_FINDINGS, ExitError } from "./exit.ts";
import { progressLog } from "./progress.ts";
import { CONFIG_OPTION, DATA_DIR_OPTION } from "./options.ts";
import { beforeSignals } from "./run.ts";
import { errorMessage } from "../text/index.ts";

/** Options that locate the databases, as for the other control-plane commands. */
export interface LocateOptions {
  readonly config?: string;
  readonly dataDir?: string;
}

interface MigrateCommandOptions extends LocateOptions {
  readonly environment: DatabaseEnvironment | "all";
  readonly status?: boolean;
}

/**
 * `gatehouse migrate`: migrates the databases to the schema of this version.
 *
 * @param locate - finds the databases from the configuration
 */
export function migrateCommand(locate: (options: LocateOptions) => DatabaseLocation): Command {
  return new Command("migrate")
    .description("migrate the databases to the schema of this version")
    .addOption(
      new Option("--environment <environment>", "database to migrate")
        .choices(["production", "sandbox", "all"])
        .default("all"),
    )
    .option(...CONFIG_OPTION)
    .option(...DATA_DIR_OPTION)
    .option("--status", "list pending migrations without applying them; exit code 1 if there are any")
    .action((options: MigrateCommandOptions) => beforeSignals(() => migrateAll(locate(options), options)));
}

async function migrateAll(location: DatabaseLocation, options: MigrateCommandOptions): Promise<void> {
  const wanted: readonly DatabaseEnvironment[] =
    options.environment === "all" ? ["production", "sandbox"] : [options.environment];
  const databases = await provideDatabases(location, wanted, progressLog).catch(fail);
  try {
    let isBehind = false;
    for (const environment of wanted) {
      const db = openDatabase(databases.url(environment), {
        poolSize: 1,
        applicationName: "gatehouse migrate",
      });
      try {
        isBehind = (await run(environment, db, options.status === true)) || isBehind;
      } catch (error) {
        fail(error, environment);
      } finally {
        await closeDatabase(db);
      }
    }
    if (isBehind) throw new ExitError("", EXIT_FINDINGS);
  } finally {
    await databases.close();
  }
}

/** @returns whether migrations are pending. */
async function run(environment: DatabaseEnvironment, db: Database, isStatus: boolean): Promise<boolean> {
  const names = isStatus ? await pendingMigrations(db) : (await migrate(db)).applied;
  const what = isStatus ? "pending" : "applied";
  process.stdout.write(
    `${environment}: ${names.length === 0 ? "up to date" : `${names.length} ${what}: ${names.join(", ")}`}\n`,
  );
  return isStatus && names.length > 0;
}

/** Failures here are for the operator to fix: the message is printed without a stack. */
function fail(error: unknown, environment?: DatabaseEnvironment): never {
  const why = errorMessage(error);
  throw new ExitError(`${environment === undefined ? "" : `${environment}: `}${why}`, EXIT_FINDINGS);
}
