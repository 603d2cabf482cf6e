import { Command } from "commander";
import { join } from "node:path";
import type { GatewayConfig } from "../config/index.ts";
import { keyFileOf } from "../processes/control-plane/encryption-key.ts";
import { backUp, restore } from "../storage/index.ts";
import { errorMessage } from "../text/index.ts";
import { EXIT_FINDINGS, EXIT_USAGE, ExitError } from "./exit.ts";
import type { LocateOptions } from "./migrate.ts";
import { CONFIG_OPTION, DATA_DIR_OPTION, loadConfig } from "./options.ts";
import { progressLog } from "./progress.ts";
import { beforeSignals } from "./run.ts";

/** `gatehouse backup`: copies the embedded databases while the control plane may be running. */
export function backupCommand(): Command {
  return new Command("backup")
    .description("back up the embedded databases into a new folder, while the control plane may be running")
    .argument(
      "<folder>",
      "the folder to write, which must not exist; it also gets a generated encryption key",
    )
    .option(...CONFIG_OPTION)
    .option(...DATA_DIR_OPTION)
    .action((folder: string, options: LocateOptions) =>
      beforeSignals(async () => {
        const config = embeddedOf(options);
        const keyFile = keyFileOf(config);
        const { taken_at: at, encryption_key: hasKey } = await backUp({
          dataDirectory: config.api.data_directory,
          target: folder,
          log: progressLog,
          ...(keyFile !== undefined && { keyFile }),
        }).catch(fail);
        process.stdout.write(
          `backed up to ${folder}: everything committed before ${at}\n${hasKey ? WITH_KEY : WITHOUT_KEY}`,
        );
      }),
    );
}

const WITH_KEY = "It contains the encryption key: keep it where nobody else can read it.\n";
const WITHOUT_KEY =
  "It does not contain the encryption key, without which its secrets cannot be read: keep that apart.\n";

/** `gatehouse restore`: the other way, into a data directory without databases. */
export function restoreCommand(): Command {
  return new Command("restore")
    .description("restore the embedded databases from a folder that `gatehouse backup` has written")
    .argument("<folder>", "the backup")
    .option(...CONFIG_OPTION)
    .option(...DATA_DIR_OPTION)
    .action((folder: string, options: LocateOptions) =>
      beforeSignals(async () => {
        const config = embeddedOf(options);
        const { data_directory: dataDirectory } = config.api;
        const keyFile = keyFileOf(config) ?? join(dataDirectory, "encryption.key");
        const { taken_at: at } = await restore({
          source: folder,
          dataDirectory,
          keyFile,
          log: progressLog,
        }).catch(fail);
        process.stdout.write(`restored to ${dataDirectory}: everything committed before ${at}\n`);
      }),
    );
}

function embeddedOf({ config: file, dataDir }: LocateOptions): GatewayConfig {
  const config = loadConfig(file, [], { "api.data_directory": dataDir });
  const { url, sandbox_url: sandboxUrl } = config.database;
  if (url === undefined && sandboxUrl === undefined) return config;
  throw new ExitError(
    "a database is configured by URL (`database.url`, `database.sandbox_url`): use the tools of its server, such as pg_dump or pg_basebackup",
    EXIT_USAGE,
  );
}

/** What failed is for the operator to mend: no stack. */
function fail(error: unknown): never {
  throw new ExitError(errorMessage(error), EXIT_FINDINGS);
}
