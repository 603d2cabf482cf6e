import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { OTHER_VARIABLES, processEnvironment } from "../config/index.ts";
import type { EnvironmentVariables } from "../config/index.ts";
import { installEnvoy, installedEnvoy } from "./envoy-install.ts";
import type { MessageLog } from "./log.ts";

export interface FindEnvoyOptions {
  /** Install Envoy into `folder` if there is none. */
  readonly installIfMissing: boolean;
  readonly log: MessageLog;
  /** Default: the environment of this process. */
  readonly env?: EnvironmentVariables;
  /** Where Envoy is installed. Default: `.gatehouse/envoy` in the working directory. */
  readonly folder?: string;
}

/** Older versions lack settings that the bootstrap needs. */
const OLDEST_MINOR = 37;

/**
 * Finds Envoy: the one that ENVOY_BIN names, else one on PATH that is recent enough, else the one installed in `folder`.
 *
 * @returns the absolute path of the binary.
 * @throws Error that says what to do, if there is none.
 */
export async function findEnvoy(options: FindEnvoyOptions): Promise<string> {
  const env = options.env ?? processEnvironment();
  const named = env[OTHER_VARIABLES.envoyBinary];
  if (named !== undefined && named !== "") {
    if (await isExecutable(resolve(named))) return resolve(named);
    throw new Error(`${OTHER_VARIABLES.envoyBinary} is \`${named}\`, which is not an executable file`);
  }
  const onPath = await searchPath(env[OTHER_VARIABLES.path] ?? "", options.log);
  if (onPath !== undefined) return onPath;
  const folder = resolve(options.folder ?? join(".gatehouse", "envoy"));
  const installed = installedEnvoy(folder);
  if (await isExecutable(installed)) return installed;
  if (options.installIfMissing) return installEnvoy({ folder, log: options.log });
  throw new Error(
    `envoy was not found on PATH or in \`${folder}\`; set ${OTHER_VARIABLES.envoyBinary} to its binary`,
  );
}

async function searchPath(path: string, log: MessageLog): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((entry) => entry !== "")) {
    const candidate = resolve(folder, "envoy");
    if (!(await isExecutable(candidate))) continue;
    const version = await versionOf(candidate);
    if (version !== undefined && (version.major > 1 || version.minor >= OLDEST_MINOR)) return candidate;
    log.warn(`ignoring ${candidate}: it is not Envoy 1.${String(OLDEST_MINOR)} or newer`);
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

async function versionOf(binary: string): Promise<{ major: number; minor: number } | undefined> {
  try {
    const { stdout } = await promisify(execFile)(binary, ["--version"], { timeout: 10_000 });
    const [, major, minor] = /version: [0-9a-f]+\/(\d+)\.(\d+)\./.exec(stdout) ?? [];
    return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
  } catch {
    return undefined;
  }
}
