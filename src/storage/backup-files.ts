import { chmod, copyFile, mkdir, open, readdir, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { errorCode } from "../runtime/error-code.ts";

/** What a backup is of. It is written last, so a folder without it is no backup. */
export const backupManifest = z.strictObject({
  format: z.literal(1),
  /** ISO 8601: everything that was committed before is in it. */
  taken_at: z.iso.datetime(),
  /** Major version of PostgreSQL, whose files no other one reads. */
  postgres: z.int(),
  /** Whether the encryption key is in it. */
  encryption_key: z.boolean(),
});
export type BackupManifest = z.infer<typeof backupManifest>;

/** Names in a backup's folder. */
export const BACKUP = {
  manifest: "backup.json",
  data: "data",
  passwords: "passwords.json",
  key: "encryption.key",
} as const;

/**
 * Copies one file durably, for its owner alone: on its way, a backup may have lost the permissions that it was written with.
 *
 * @returns whether it was still there
 */
export async function copyDurably(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
  await chmod(to, 0o600);
  await syncPath(to);
  return true;
}

/**
 * Copies a folder durably. A file or folder that disappears meanwhile is left out.
 *
 * @param isWanted - by path relative to the folder; what is below an unwanted folder is not asked about
 * @param made - called with each folder and file that was made
 */
export async function copyTree(
  from: string,
  to: string,
  isWanted: (path: string) => boolean = () => true,
  made: (path: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const copyBelow = async (path: string): Promise<void> => {
    await mkdir(join(to, path), { mode: 0o700 });
    await made(join(to, path));
    for (const entry of await entriesOf(join(from, path))) {
      const inner = join(path, entry.name);
      if (!isWanted(inner)) continue;
      if (entry.isDirectory()) await copyBelow(inner);
      else if (entry.isFile()) {
        if (await copyDurably(join(from, inner), join(to, inner))) await made(join(to, inner));
      } else throw new Error(`\`${join(from, inner)}\` is neither a file nor a folder`);
    }
    await syncPath(join(to, path));
  };
  await copyBelow("");
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

export async function writeDurably(path: string, text: string | Uint8Array): Promise<void> {
  await withFile(path, "w", async (file) => {
    await file.writeFile(text);
    await file.sync();
  });
}

export function syncPath(path: string): Promise<void> {
  return withFile(path, "r", (file) => file.sync());
}

async function withFile(
  path: string,
  flags: string,
  work: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}
