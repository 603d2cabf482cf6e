import { execFile } from "node:child_process";
import { copyFile, readFile } from "node:fs/promises";
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
  await requireOwnNode(folder);
  // the program's `prepack` compiles it
  for (const cwd of [folder, client])
    await run("npm", ["pack", "--silent", "--pack-destination", into], { cwd, maxBuffer: 1e8 });
}

/**
 * A checkout brings its Node.js with it, so its `engines` name what npm needs for that. Whoever installs the package runs it with
 * their own, of which the program needs a newer one.
 *
 * @throws if the program does not say which
 */
export async function requireOwnNode(folder: string): Promise<void> {
  const [, needed] =
    /^const NEEDED = (\d+);$/m.exec(await readFile(join(folder, "bin/gatehouse.js"), "utf8")) ?? [];
  if (needed === undefined) throw new Error("bin/gatehouse.js does not say which Node.js it needs");
  await run("npm", ["pkg", "set", `engines.node=>=${needed}`], { cwd: folder });
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
