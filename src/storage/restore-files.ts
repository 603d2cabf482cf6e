import { createHash } from "node:crypto";
import { lstat, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../runtime/error-code.ts";
import { BACKUP, copyDurably, syncPath, type BackupFile, type BackupManifest } from "./backup-files.ts";

/**
 * Copies the database's files out of a backup, each one as it was written: a file that is missing, cut short or changed on
 * the way would cost rows that nobody misses until much later.
 *
 * @param to - by path within the backup
 * @param made - called with each folder and file that was made
 * @throws Error that names the first file that is not as it was
 */
export async function copyData(
  source: string,
  { folders, files }: Pick<BackupManifest, "folders" | "files">,
  to: (path: string) => string,
  made: (path: string) => Promise<void>,
): Promise<void> {
  const isData = (path: string) => path === BACKUP.data || path.startsWith(`${BACKUP.data}/`);
  const ofData = folders.filter(isData);
  for (const path of ofData) {
    await mkdir(to(path), { mode: 0o700 });
    await made(to(path));
  }
  for (const file of files.filter(({ path }) => isData(path))) {
    await copyVerified(source, file, to(file.path));
    await made(to(file.path));
  }
  for (const path of ofData) await syncPath(to(path));
}

/** @returns the content of one small file that the backup must have */
export async function readListed(
  source: string,
  { files }: Pick<BackupManifest, "files">,
  path: string,
): Promise<Buffer> {
  const file = files.find((one) => one.path === path);
  if (file === undefined) throw incomplete(source, path);
  await requireFile(source, file);
  const content = await readFile(join(source, path));
  requireContent(source, file, createHash("sha256").update(content).digest("hex"));
  return content;
}

async function copyVerified(source: string, file: BackupFile, to: string): Promise<void> {
  await requireFile(source, file);
  const copied = await copyDurably(join(source, file.path), to);
  if (copied === undefined) throw incomplete(source, file.path);
  requireContent(source, file, copied.sha256);
}

/** Before it is read: a link may lead to anything, and a pipe has no end. */
async function requireFile(source: string, { path, size }: BackupFile): Promise<void> {
  const found = await lstat(join(source, path)).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") throw incomplete(source, path);
    throw error;
  });
  if (!found.isFile()) throw damaged(source, path, "is not a file");
  if (found.size !== size) throw damaged(source, path, `has ${found.size} bytes instead of ${size}`);
}

function requireContent(source: string, { path, sha256 }: BackupFile, found: string): void {
  if (found !== sha256) throw damaged(source, path, "has another content than when it was written");
}

function incomplete(source: string, path: string): Error {
  return new Error(`\`${source}\` lacks \`${path}\`: it is not a whole backup`);
}

function damaged(source: string, path: string, problem: string): Error {
  return new Error(
    `the backup is damaged: \`${join(source, path)}\` ${problem}. Restore from another copy of it, or an earlier backup`,
  );
}
