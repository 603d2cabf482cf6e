import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const ROOT = join(import.meta.dirname, "..");

/** The files of a commit. */
export interface Source {
  readonly folder: string;
  readonly commit: string;
  /** When the commit was made: the time of every file that is released. */
  readonly time: Date;
  /** Names of files, by the names of folders and files that git knows. */
  list(...paths: readonly string[]): Promise<readonly string[]>;
}

/**
 * Writes the files of the last commit into a folder: what is changed, new or ignored in the checkout is not released. Tools are
 * those that the checkout has installed.
 */
export async function exportSource(folder: string): Promise<Source> {
  const git = async (...args: readonly string[]) =>
    (await run("git", ["-C", ROOT, ...args], { maxBuffer: 1e9 })).stdout;
  const [commit = "", seconds = ""] = (await git("log", "-1", "--format=%H %ct")).trim().split(" ");
  await mkdir(folder, { recursive: true });
  const archive = join(folder, "..", "source.tar");
  await git("archive", "--format=tar", `--output=${archive}`, commit);
  // whatever the caller's umask is
  await run("tar", [
    "--extract",
    "--no-same-owner",
    "--no-same-permissions",
    "--file",
    archive,
    "--directory",
    folder,
  ]);
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return {
    folder,
    commit,
    time: new Date(Number(seconds) * 1_000),
    async list(...paths) {
      const names = await git("ls-tree", "-r", "-z", "--name-only", commit, "--", ...paths);
      return names.split("\0").filter((name) => name !== "");
    },
  };
}

/** Writes `SHA256SUMS` as `sha256sum --check` reads it. */
export async function writeSums(folder: string, sums: ReadonlyMap<string, string>): Promise<void> {
  const lines = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`);
  await writeFile(join(folder, "SHA256SUMS"), lines.join(""));
}
