import { existsSync } from "node:fs";
import { loadGatewayConfig, type GatewayConfig } from "../config/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";

/** `--config` of the commands that run something. */
export const CONFIG_OPTION = [
  "-c, --config <file>",
  "configuration file (default: gateway.yaml where there is one)",
] as const;

/**
 * Loads the configuration of a command: the file that was named, or `gateway.yaml` where there is one, and the
 * environment.
 *
 * @param needs - keys without which the command cannot run
 * @throws ExitError with all that is wrong
 */
export function loadConfig(file: string | undefined, needs: readonly string[]): GatewayConfig {
  const path = file ?? (existsSync("gateway.yaml") ? "gateway.yaml" : undefined);
  const result = loadGatewayConfig({ ...(path !== undefined && { file: path }), needs });
  if (!result.ok) throw new ExitError(result.errors, EXIT_USAGE);
  return result.config;
}
