import { execFile } from "node:child_process";
import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { installPythonPackages } from "../../support/python-packages.ts";
import type { PythonRuntime } from "./python-runtimes.ts";

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL("../../../../clients/python/", import.meta.url));

/** A folder for `PYTHONPATH` with packages of a list beside this file. */
export function pythonPackages(
  name: "client" | "typing" | "middleware" | "crypto" | "trio" | PythonRuntime["requirements"],
): Promise<string> {
  const requirements = fileURLToPath(new URL(`${name}-requirements.txt`, import.meta.url));
  return installPythonPackages(`python-${name}`, requirements);
}

/** The environment of a program that finds nothing but these folders. */
export function pythonEnvironment(...folders: readonly string[]): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const PYTHONPATH = folders.length > 0 ? folders.join(":") : undefined;
  return { PATH, HOME, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" };
}

/** Builds the wheel. @returns its file */
export async function buildWheel(): Promise<string> {
  const folder = await temporaryDirectory();
  await cp(SOURCE, join(folder, "source"), {
    recursive: true,
    filter: (name) => !/__pycache__|\.mypy_cache|\/dist$/.test(name),
  });
  const build = ["-m", "hatchling", "build", "-t", "wheel", "-d", join(folder, "wheel")];
  const env = pythonEnvironment(await pythonPackages("client"));
  await run("python3", build, { cwd: join(folder, "source"), env });
  const [wheel = ""] = await readdir(join(folder, "wheel"));
  return join(folder, "wheel", wheel);
}

/** An empty virtual environment in which the wheel was installed. */
export interface InstalledWheel {
  /** The program that finds it, and nothing else of this machine. */
  readonly python: string;
  /** Where it is. */
  readonly site: string;
}

/**
 * Installs the wheel as its users do, with pip. The packages that it needs are there already, and pip checks that they are those
 * that it asks for: nothing comes from the network.
 */
export async function installWheel(
  wheel: string,
  program: string,
  packages: string,
): Promise<InstalledWheel> {
  const folder = join(await temporaryDirectory(), "environment");
  const env = pythonEnvironment();
  await run(program, ["-m", "venv", folder], { env });
  const python = join(folder, "bin", "python");
  const tell = "import sysconfig; print(sysconfig.get_path('purelib'))";
  const site = (await run(python, ["-c", tell], { env })).stdout.trim();
  await writeFile(join(site, "needed.pth"), `${packages}\n`);
  const options = ["--disable-pip-version-check", "--no-input", "--no-index"];
  await run(python, ["-m", "pip", "install", ...options, wheel], { env });
  return { python, site };
}

/** Builds the wheel and installs it. @returns the folder in which it is, and that with what it needs */
export async function pythonProject(): Promise<readonly [site: string, packages: string]> {
  const packages = await pythonPackages("client");
  const { site } = await installWheel(await buildWheel(), "python3", packages);
  return [site, packages];
}
