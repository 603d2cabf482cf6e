import { existsSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { resolve } from "node:path";
import { loadGatewayConfig, type GatewayConfig, type LoadOptions, type LoadResult } from "../config/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";

/** `--config` of the commands that run something. */
export const CONFIG_OPTION = [
  "-c, --config <file>",
  "configuration file (default: gateway.yaml, if present)",
] as const;

/** `--data-dir` of the control-plane commands. */
export const DATA_DIR_OPTION = [
  "--data-dir <folder>",
  "folder of the embedded database (default: .gatehouse)",
] as const;

/**
 * Loads the configuration of a command from the named file (or `gateway.yaml`, if present) and the environment.
 *
 * @param needs - keys without which the command cannot run
 * @param overrides - values by key name that take precedence over everything; `undefined` ones are ignored
 * @throws ExitError that lists every problem
 */
export function loadConfig(
  file: string | undefined,
  needs: readonly string[],
  overrides: Readonly<Record<string, unknown>> = {},
): GatewayConfig {
  const result = loadGatewayConfig({ ...fileOption(file), needs, overrides });
  if (!result.ok) throw new ExitError(result.errors, EXIT_USAGE);
  return result.config;
}

/**
 * @returns the file that {@link loadConfig} reads, if there is one, and a function that reads it again in the same way
 */
export function configFile(
  file: string | undefined,
  needs: readonly string[],
): { readonly path: string; readonly load: () => LoadResult } | undefined {
  const { file: path } = fileOption(file);
  if (path === undefined) return undefined;
  return { path: resolve(path), load: () => loadGatewayConfig({ file: path, needs }) };
}

function fileOption(file: string | undefined): Pick<LoadOptions, "file"> {
  const path = file ?? (existsSync("gateway.yaml") ? "gateway.yaml" : undefined);
  return path === undefined ? {} : { file: path };
}

/** Parses a port given on the command line. */
export function portOption(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535)
    throw new InvalidArgumentError("is not a port from 0 to 65535");
  return Number(text);
}
