import { readFile, writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

export interface ArchiveOptions {
  /** Where the files are. */
  readonly folder: string;
  /** Their paths in it. */
  readonly files: readonly string[];
  /** The folder that the archive unpacks to. */
  readonly prefix: string;
  /** The time of every file. */
  readonly time: Date;
}

/**
 * Writes a `.tar.gz` whose bytes depend on names and contents alone: files in order of their names, all of one time, of nobody, and
 * with one mode.
 */
export async function writeArchive(
  path: string,
  { folder, files, prefix, time }: ArchiveOptions,
): Promise<void> {
  const archive = pack();
  const bytes = buffer(archive);
  for (const name of files.toSorted()) {
    const header = { name: `${prefix}/${name}`, mode: 0o644, mtime: time, type: "file" } as const;
    archive.entry(header, await readFile(join(folder, name)));
  }
  archive.finalize();
  // zlib writes no time and no name into the header
  await writeFile(path, gzipSync(await bytes, { level: 9 }));
}
