import { execFile } from "node:child_process";
import { cp, readdir } from "node:fs/promises";
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
  return { PATH, HOME, PYTHONPATH: folders.join(":"), PYTHONDONTWRITEBYTECODE: "1" };
}

/** Builds the wheel and installs it. @returns the folder in which it is, and that with what it needs */
export async function pythonProject(): Promise<readonly [site: string, packages: string]> {
  const packages = await pythonPackages("client");
  const folder = await temporaryDirectory();
  await cp(SOURCE, join(folder, "source"), {
    recursive: true,
    filter: (name) => !/__pycache__|\.mypy_cache|\/dist$/.test(name),
  });
  const build = ["-m", "hatchling", "build", "-t", "wheel", "-d", join(folder, "wheel")];
  await run("python3", build, { cwd: join(folder, "source"), env: pythonEnvironment(packages) });
  const [wheel = ""] = await readdir(join(folder, "wheel"));
  const site = join(folder, "site");
  // what pip does with a wheel of pure Python, where there may be no pip
  await run("python3", ["-m", "zipfile", "-e", join(folder, "wheel", wheel), site]);
  return [site, packages];
}
