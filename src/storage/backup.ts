import { lstat, mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { randomBytes } from "node:crypto";
import pg from "pg";
import { errorCode } from "../runtime/error-code.ts";
import {
  BACKUP,
  copyDurably,
  copyTree,
  syncPath,
  writeDurably,
  type BackupFile,
  type BackupManifest,
} from "./backup-files.ts";
import { startEmbeddedPostgres, type StorageLog } from "./embedded-postgres.ts";

export interface BackupOptions {
  /** The data directory of the control plane. */
  readonly dataDirectory: string;
  /** A folder that does not exist yet. */
  readonly target: string;
  /** The file with the encryption key; absent if the key is kept elsewhere. */
  readonly keyFile?: string;
  readonly log: StorageLog;
}

/**
 * Backs up the embedded databases, both of them as of one moment, into a new folder. The control plane may be running and
 * writing: this is PostgreSQL's low-level base backup (PostgreSQL 18, section 25.3.3). The folder appears when the backup is complete.
 *
 * @throws Error that says what to do, if there are no embedded databases, or the folder exists or cannot be written
 */
export async function backUp({
  dataDirectory,
  target,
  keyFile,
  log,
}: BackupOptions): Promise<BackupManifest> {
  const folder = resolve(target);
  await assertAbsent(folder);
  const partial = `${folder}.partial-${process.pid}-${randomBytes(4).toString("hex")}`;
  const server = await startEmbeddedPostgres({ dataDirectory, databases: [], create: false, log });
  try {
    await mkdir(partial, { mode: 0o700 });
    const cluster = join(await realpath(join(resolve(dataDirectory), "postgres")), "cluster");
    const key = keyFile === undefined ? undefined : await copyDurably(keyFile, join(partial, BACKUP.key));
    const passwords = await copyDurably(join(cluster, "passwords.json"), join(partial, BACKUP.passwords));
    const { folders, files, ...taken } = await copyCluster(
      server.adminUrl("postgres"),
      join(cluster, "data"),
      join(partial, BACKUP.data),
    );
    const inData = (path: string) => join(BACKUP.data, path);
    const manifest: BackupManifest = {
      ...{ format: 2, ...taken, encryption_key: key !== undefined },
      folders: folders.map(inData),
      files: [
        ...(key === undefined ? [] : [{ path: BACKUP.key, ...key }]),
        ...(passwords === undefined ? [] : [{ path: BACKUP.passwords, ...passwords }]),
        ...files.map((file) => ({ ...file, path: inData(file.path) })),
      ],
    };
    await writeDurably(join(partial, BACKUP.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
    await syncPath(partial);
    await assertAbsent(folder);
    await rename(partial, folder);
    await syncPath(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  } finally {
    await server.close();
  }
}

/** A backup is never written over anything, least of all over another backup. */
async function assertAbsent(folder: string): Promise<void> {
  const found = await lstat(folder).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found !== undefined) throw new Error(`\`${folder}\` exists: name a new folder`);
}

async function copyCluster(
  url: string,
  data: string,
  to: string,
): Promise<Pick<BackupManifest, "taken_at" | "postgres" | "folders" | "files">> {
  const client = new pg.Client({ connectionString: url, application_name: "gatehouse backup" });
  // the query that is running reports it
  client.on("error", () => undefined);
  await client.connect();
  try {
    // keeps the write-ahead log until it is copied; it is gone with this session
    const slot = `gatehouse_backup_${randomBytes(6).toString("hex")}`;
    await client.query("select pg_create_physical_replication_slot($1, true, true)", [slot]);
    const started = await one<{ segment: string; version: number }>(
      client,
      `select pg_walfile_name(pg_backup_start('gatehouse backup', true)) as segment,
              current_setting('server_version_num')::int as version`,
    );
    const { folders, files } = await copyTree(data, to, isPartOfBackup);
    const stopped = await one<{ segment: string; label: string; tablespaces: string; at: Date }>(
      client,
      `select pg_walfile_name(lsn) as segment, labelfile as label, spcmapfile as tablespaces, now() as at
         from pg_backup_stop(false)`,
    );
    if (stopped.tablespaces.trim() !== "")
      throw new Error(
        "the database has tablespaces of its own, which this backup would leave out: use pg_basebackup",
      );
    const label = await writeDurably(join(to, "backup_label"), stopped.label);
    const log = await copyLog(join(data, "pg_wal"), join(to, "pg_wal"), started.segment, stopped.segment);
    return {
      ...{ taken_at: stopped.at.toISOString(), postgres: Math.floor(started.version / 10_000) },
      folders: [...folders, ...log.folders],
      files: [...files, { path: "backup_label", ...label }, ...log.files],
    };
  } finally {
    await client.end();
  }
}

/** Folders whose content the server makes anew, and files that are of the running server. */
const LEFT_OUT =
  /^(?:pg_dynshmem|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans|pg_wal)\/|^(?:postmaster\.(?:pid|opts)|backup_label|tablespace_map)$|(?:^|\/)(?:pgsql_tmp[^/]*|pg_internal\.init[^/]*)$/;

function isPartOfBackup(path: string): boolean {
  return !LEFT_OUT.test(path);
}

/** Copies the segments of the log that the copied files need, and makes sure that none is missing. */
async function copyLog(
  from: string,
  to: string,
  first: string,
  last: string,
): Promise<Pick<BackupManifest, "folders" | "files">> {
  const files: BackupFile[] = [];
  await mkdir(join(to, "archive_status"), { mode: 0o700 });
  const names = (await readdir(from)).filter((name) => /^[0-9A-F]{24}$/.test(name)).sort();
  const wanted = names.filter((name) => name >= first && name <= last);
  if (wanted[0] !== first || wanted.at(-1) !== last)
    throw new Error("the write-ahead log is not complete: try again");
  for (const name of wanted) {
    const copied = await copyDurably(join(from, name), join(to, name));
    if (copied === undefined) throw new Error("the write-ahead log was removed meanwhile: try again");
    files.push({ path: join("pg_wal", name), ...copied });
  }
  await syncPath(to);
  return { folders: [join("pg_wal", "archive_status")], files };
}

async function one<R extends pg.QueryResultRow>(client: pg.Client, sql: string): Promise<R> {
  const { rows } = await client.query<R>(sql);
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL returned no row");
  return row;
}
