import {
  databaseLocation,
  openEnvironment,
  type OpenedEnvironment,
} from "../processes/control-plane/open-environment.ts";
import { controlPlaneLog } from "./control-plane-log.ts";
import type { OpenOptions } from "./keys.ts";
import type { LocateOptions } from "./migrate.ts";
import { loadConfig } from "./options.ts";

/** Opens an environment's database for a command. A control plane may be running at the same time. */
export function openForCommand({
  environment,
  config: file,
  dataDir,
  readOnly = false,
}: OpenOptions): Promise<OpenedEnvironment> {
  const config = loadConfig(file, [], { "api.data_directory": dataDir, "telemetry.log_level": "warn" });
  return openEnvironment(config, environment, controlPlaneLog(config), readOnly ? "look" : "command");
}

/** Where the databases are, for `gatehouse migrate`. */
export function locateDatabases({ config, dataDir }: LocateOptions) {
  return databaseLocation(loadConfig(config, [], { "api.data_directory": dataDir }));
}
