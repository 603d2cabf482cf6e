import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPythonPackages } from "./python-packages.ts";
import { ROOT, type Source } from "./source.ts";

const run = promisify(execFile);

/** Packs the packages for npm: the program and the client library. */
export async function packNpm({ folder }: Source, into: string): Promise<void> {
  const client = join(folder, "clients/node");
  await copyFile(join(folder, "LICENSE"), join(client, "LICENSE"));
  await run(process.execPath, [join(client, "build.ts")], { cwd: folder });
  // the program's `prepack` compiles it
  for (const cwd of [folder, client])
    await run("npm", ["pack", "--silent", "--pack-destination", into], { cwd, maxBuffer: 1e8 });
}

/** Builds the packages for PyPI: a wheel, and the source that it is built from. */
export async function buildPython({ folder, time }: Source, into: string): Promise<void> {
  const requirements = fileURLToPath(new URL("./requirements.txt", import.meta.url));
  const packages = await installPythonPackages("release", requirements, join(ROOT, ".gatehouse"));
  const cwd = join(folder, "clients/python");
  await copyFile(join(folder, "LICENSE"), join(cwd, "LICENSE"));
  const build = ["-m", "hatchling", "build", "--target", "wheel", "--target", "sdist", "--directory", into];
  await run("python3", build, {
    cwd,
    env: {
      ...process.env,
      PYTHONPATH: packages,
      PYTHONDONTWRITEBYTECODE: "1",
      // https://reproducible-builds.org/specs/source-date-epoch/
      SOURCE_DATE_EPOCH: String(time.getTime() / 1_000),
    },
  });
}
