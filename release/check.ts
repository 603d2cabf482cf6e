import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAKE = join(import.meta.dirname, "make.ts");

/** What differs between two machines, and must not be in a release. */
const PLACES = [
  { folder: "a", umask: "022", env: { TZ: "UTC", LC_ALL: "C" } },
  {
    folder: "another place/with blanks",
    umask: "077",
    env: { TZ: "Pacific/Kiritimati", LC_ALL: "C.UTF-8", LANG: "de_DE.UTF-8" },
  },
] as const;

/**
 * Makes the release of the last commit in two places and compares them.
 *
 * @returns the names of files that differ, or that only one of them has
 */
export async function differences(): Promise<{
  readonly files: readonly string[];
  readonly differ: readonly string[];
}> {
  const work = await mkdtemp(join(tmpdir(), "gatehouse-release-check-"));
  try {
    const made: ReadonlyMap<string, Buffer>[] = [];
    for (const { folder, umask, env } of PLACES) {
      const place = join(work, folder);
      await mkdir(join(place, "tmp"), { recursive: true });
      const command = 'umask "$1" && shift && exec "$@"';
      await run("sh", ["-c", command, "sh", umask, process.execPath, MAKE, "--out", join(place, "out")], {
        env: { ...process.env, ...env, TMPDIR: join(place, "tmp") },
        maxBuffer: 1e8,
      });
      made.push(await contentOf(join(place, "out")));
    }
    const [first = new Map<string, Buffer>(), second = new Map<string, Buffer>()] = made;
    const files = [...new Set([...first.keys(), ...second.keys()])].toSorted();
    return {
      files,
      differ: files.filter((name) => first.get(name)?.equals(second.get(name) ?? Buffer.of()) !== true),
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function contentOf(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const names = await readdir(folder);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

if (process.argv[1] === import.meta.filename) {
  const { files, differ } = await differences();
  for (const name of files)
    process.stdout.write(`${differ.includes(name) ? "differs" : "same   "}  ${name}\n`);
  process.exitCode = differ.length === 0 ? 0 : 1;
}
