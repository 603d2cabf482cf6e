import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

/**
 * Installs pinned packages of PyPI, unless they are installed.
 *
 * @param name - of their folder
 * @param requirements - the file that lists them, with hashes
 * @param parent - where that folder is
 * @returns the folder with the packages of this very list, for PYTHONPATH
 */
export async function installPythonPackages(
  name: string,
  requirements: string,
  parent = resolve(".gatehouse"),
): Promise<string> {
  const list = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex");
  const folder = join(parent, name, list.slice(0, 16));
  if (existsSync(folder)) return folder;
  const target = `${folder}.${randomUUID()}.tmp`;
  await mkdir(dirname(folder), { recursive: true });
  try {
    await pipInstall(target, requirements);
    await rename(target, folder).catch((error: unknown) => {
      // another process was faster
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(target, { recursive: true, force: true });
  }
  return folder;
}

/** With pip where Python has it, else with the pip of a throw-away virtual environment. */
async function pipInstall(target: string, requirements: string): Promise<void> {
  const run = promisify(execFile);
  const pip = [
    ...["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet", "--no-deps"],
    ...["--only-binary=:all:", "--require-hashes", "--target", target, "--requirement", requirements],
  ];
  const hasPip = await run("python3", ["-m", "pip", "--version"]).then(
    () => true,
    () => false,
  );
  if (hasPip) {
    await run("python3", pip);
    return;
  }
  const environment = `${target}.venv`;
  try {
    await run("python3", ["-m", "venv", environment]);
    await run(join(environment, "bin", "python"), pip);
  } finally {
    await rm(environment, { recursive: true, force: true });
  }
}
