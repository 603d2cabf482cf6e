import { createHash } from "node:crypto";
import { mkdir, open, readdir, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { errorCode } from "../runtime/error-code.ts";

/** Within the backup's folder: nobody who has written the list can have anything else read, or written. */
const innerPath = z
  .string()
  .refine(
    (path) =>
      !path.includes("\0") && path.split("/").every((part) => part !== "" && part !== "." && part !== ".."),
    "must be a path within the backup",
  );

const backupFile = z.strictObject({
  path: innerPath,
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type BackupFile = z.infer<typeof backupFile>;

/** What a backup is of. It is written last, so a folder without it is no backup. */
export const backupManifest = z.strictObject({
  format: z.literal(2),
  /** ISO 8601: everything that was committed before is in it. */
  taken_at: z.iso.datetime(),
  /** Major version of PostgreSQL, whose files no other one reads. */
  postgres: z.int(),
  /** Whether the encryption key is in it. */
  encryption_key: z.boolean(),
  /** Each after the one that it is in. What stores a backup may lose folders that are empty, and the server needs them. */
  folders: z.array(innerPath),
  /** PostgreSQL notices neither a file that is missing nor one that is cut short: rows would be gone. */
  files: z.array(backupFile),
});
export type BackupManifest = z.infer<typeof backupManifest>;

const CHUNK_BYTES = 1_048_576;

/** Names in a backup's folder. */
export const BACKUP = {
  manifest: "backup.json",
  data: "data",
  passwords: "passwords.json",
  key: "encryption.key",
} as const;

/** What was copied of a file. */
export type CopiedFile = Omit<BackupFile, "path">;

/**
 * Copies one file durably, for its owner alone: on its way, a backup may have lost the permissions that it was written with.
 *
 * @returns what was copied; `undefined` if it was no longer there
 */
export async function copyDurably(from: string, to: string): Promise<CopiedFile | undefined> {
  let source: FileHandle;
  try {
    source = await open(from, "r");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    // never for others, not even for a moment: `copyFile` would begin with the mode of the source
    return await withFile(to, "wx", async (target) => {
      const digest = createHash("sha256");
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      let size = 0;
      for (;;) {
        const { bytesRead } = await source.read(chunk, 0, CHUNK_BYTES, null);
        if (bytesRead === 0) break;
        const bytes = chunk.subarray(0, bytesRead);
        digest.update(bytes);
        await target.writeFile(bytes);
        size += bytesRead;
      }
      await target.sync();
      return { size, sha256: digest.digest("hex") };
    });
  } finally {
    await source.close();
  }
}

/**
 * Copies a folder durably. A file or folder that disappears meanwhile is left out.
 *
 * @param isWanted - by path relative to the folder; what is below an unwanted folder is not asked about
 * @returns what was copied, by path relative to the folder, which is "" itself
 */
export async function copyTree(
  from: string,
  to: string,
  isWanted: (path: string) => boolean,
): Promise<Pick<BackupManifest, "folders" | "files">> {
  const folders: string[] = [];
  const files: BackupFile[] = [];
  const copyBelow = async (path: string): Promise<void> => {
    await mkdir(join(to, path), { mode: 0o700 });
    folders.push(path);
    for (const entry of await entriesOf(join(from, path))) {
      const inner = join(path, entry.name);
      if (!isWanted(inner)) continue;
      if (entry.isDirectory()) await copyBelow(inner);
      else if (entry.isFile()) {
        const copied = await copyDurably(join(from, inner), join(to, inner));
        if (copied !== undefined) files.push({ path: inner, ...copied });
      } else throw new Error(`\`${join(from, inner)}\` is neither a file nor a folder`);
    }
    await syncPath(join(to, path));
  };
  await copyBelow("");
  return { folders, files };
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** @returns what was written */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<CopiedFile> {
  await withFile(path, "w", async (file) => {
    await file.writeFile(content);
    await file.sync();
  });
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { size: Buffer.byteLength(content), sha256 };
}

export function syncPath(path: string): Promise<void> {
  return withFile(path, "r", (file) => file.sync());
}

async function withFile<T>(path: string, flags: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags, 0o600);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
