import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errorCode } from "../runtime/error-code.ts";
import { errorMessage } from "../text/index.ts";
import { BACKUP, backupManifest, syncPath, writeDurably, type BackupManifest } from "./backup-files.ts";
import { copyData, readListed } from "./restore-files.ts";
import { isKeyMissing, placeKey, takeKeyAway } from "./restore-key.ts";
import { startEmbeddedPostgres, type StorageLog } from "./embedded-postgres.ts";
import { prepareBinaries } from "./postgres-binaries.ts";
import { hasCluster } from "./postgres-cluster.ts";
import { openHome } from "./postgres-home.ts";

export interface RestoreOptions {
  /** The folder that {@link backUp} has written. */
  readonly source: string;
  /** A data directory without embedded databases. */
  readonly dataDirectory: string;
  /** Where the encryption key belongs, if the backup has one. */
  readonly keyFile: string;
  readonly log: StorageLog;
}

/**
 * Restores embedded databases from a backup into a data directory that has none. An interrupted restore leaves nothing that looks
 * like a database. At the end, the server is started once: it recovers to the moment of the backup.
 *
 * @throws Error that says what to do, if the folder is no backup or is damaged, the data directory is in use, or the server
 *   cannot recover
 */
export async function restore({
  source,
  dataDirectory,
  keyFile,
  log,
}: RestoreOptions): Promise<BackupManifest> {
  const manifest = await readManifest(source);
  await assertNoCluster(dataDirectory);
  const home = await openHome(dataDirectory, log);
  const { major } = await prepareBinaries(home, log);
  if (major !== manifest.postgres)
    throw new Error(
      `the backup is of PostgreSQL ${manifest.postgres}, but this is PostgreSQL ${major}: restore it with the version of Gatehouse that wrote it`,
    );
  const key = manifest.encryption_key ? await readListed(source, manifest, BACKUP.key) : undefined;
  if (key !== undefined) await isKeyMissing(keyFile, key);
  const fresh = join(home.path, `cluster.${process.pid}.${randomBytes(4).toString("hex")}`);
  const cluster = join(home.path, "cluster");
  const { uid, gid } = home.user;
  try {
    await mkdir(fresh);
    await chmod(fresh, uid === undefined ? 0o700 : 0o711);
    await copyData(
      source,
      manifest,
      (path) => join(fresh, path),
      async (path) => {
        if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
      },
    );
    await writeDurably(join(fresh, "passwords.json"), await readListed(source, manifest, BACKUP.passwords));
    await syncPath(fresh);
    // copying takes minutes, in which a control plane may have started
    await assertNoCluster(dataDirectory);
    // before the databases: a start between the two would make another one
    const isOurKey = key !== undefined && (await placeKey(keyFile, key));
    await rename(fresh, cluster).catch((error: unknown) => {
      // a control plane has just started: with this key, which therefore stays
      throw IN_USE.includes(errorCode(error)) ? hasDatabase(dataDirectory, error) : error;
    });
    try {
      await syncPath(home.path);
      await recover(dataDirectory, log);
    } catch (error) {
      await rename(cluster, fresh).catch(() => undefined);
      // another backup may have another one
      if (isOurKey) await takeKeyAway(keyFile, () => hasCluster(dataDirectory));
      throw error;
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return manifest;
}

/** What a folder says in place of which another one was to be put. */
const IN_USE: readonly (string | undefined)[] = ["ENOTEMPTY", "EEXIST"];

async function assertNoCluster(dataDirectory: string): Promise<void> {
  if (await hasCluster(dataDirectory)) throw hasDatabase(dataDirectory);
}

function hasDatabase(dataDirectory: string, cause?: unknown): Error {
  return new Error(
    `\`${resolve(dataDirectory)}\` has a database already: name another data directory, or move it away`,
    { cause },
  );
}

/** Starts the server once, which replays the log up to the moment of the backup, and stops it. */
async function recover(dataDirectory: string, log: StorageLog): Promise<void> {
  const server = await startEmbeddedPostgres({
    dataDirectory,
    databases: [],
    create: false,
    log,
    keepRunning: false,
  });
  await server.close();
}

async function readManifest(source: string): Promise<BackupManifest> {
  const path = join(source, BACKUP.manifest);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "ENOTDIR") throw error;
    throw new Error(`\`${source}\` is not a whole backup: it has no \`${BACKUP.manifest}\``, {
      cause: error,
    });
  }
  try {
    return backupManifest.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`\`${path}\` cannot be read by this version: ${errorMessage(error)}`, { cause: error });
  }
}
