import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { closeDatabase, migrate, openDatabase, startEmbeddedPostgres } from "../../src/storage/index.ts";
import type { Database, EmbeddedPostgres } from "../../src/storage/index.ts";
import { eventually } from "./eventually.ts";
import { databaseDirectory, sharedFolder, sharedMemory, temporaryDirectory } from "./temporary-directory.ts";

export { temporaryDirectory };

export interface TestDatabase {
  readonly url: string;
  readonly db: Database;
  /** Closes the pool and removes the database, whoever else is connected. */
  close(): Promise<void>;
}

export interface PrivatePostgres {
  /** The same before and after a restart. The database is empty: not migrated. */
  readonly url: string;
  readonly dataDirectory: string;
  pid(): Promise<number>;
  /** Kills the server as the kernel would, and returns when it has gone. */
  kill9(): Promise<void>;
  stop(): Promise<void>;
  /** Starts the server after `kill9` or `stop`. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const TEMPLATE = "template_migrated";
/** Of an advisory lock. */
const MAKING_TEMPLATE = 7_411_002;
const quiet = { info: () => undefined, warn: () => undefined };

interface Shared {
  readonly server: EmbeddedPostgres;
  readonly admin: Database;
}

let shared: Promise<Shared> | undefined;
let template: Promise<void> | undefined;

// Of the root suite, for this file is loaded before any is described; a process that does not run mocha has no such thing.
// A process of a run of several runs one file after the other: the server is stopped with the run.
if (typeof after === "function" && sharedFolder() === undefined) {
  after(async () => {
    if (shared === undefined) return;
    const { server, admin } = await shared;
    await closeDatabase(admin);
    await server.close();
  });
}

/** A database of its own, migrated and without rows: a copy of one that is migrated once per run. */
export async function testDatabase(): Promise<TestDatabase> {
  await (template ??= makeTemplate());
  return copyOf(TEMPLATE);
}

/** A database of its own, with nothing in it. */
export function emptyDatabase(): Promise<TestDatabase> {
  return copyOf("template1");
}

async function copyOf(original: string): Promise<TestDatabase> {
  const { server, admin } = await (shared ??= startShared());
  const name = `test_${randomBytes(8).toString("hex")}`;
  await admin.raw("create database ?? template ?? owner gatehouse strategy file_copy", [name, original]);
  const url = server.url(name);
  const db = openDatabase(url, { poolSize: 10, applicationName: "test" });
  return {
    url,
    db,
    async close() {
      await closeDatabase(db);
      await admin.raw("drop database if exists ?? with (force)", [name]);
    },
  };
}

/**
 * A server of its own, for tests that kill it or use it up.
 *
 * @param settings - of PostgreSQL
 */
export async function privatePostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PrivatePostgres> {
  const dataDirectory = await databaseDirectory();
  const start = () =>
    startEmbeddedPostgres({
      ...{ dataDirectory, databases: ["gatehouse"], log: quiet, keepRunning: false },
      settings,
    });
  let server = await start();
  const pid = () => eventually("the server's process id", () => server.pid());
  return {
    url: server.url("gatehouse"),
    dataDirectory,
    pid,
    async kill9() {
      process.kill(await pid(), "SIGKILL");
      await eventually("the server's end", async () => (await server.pid()) === undefined);
    },
    stop: () => server.close(),
    async restart() {
      await server.close();
      server = await start();
    },
    close: () => server.close(),
  };
}

/** The server of this process or, where several run test files side by side, of the run: the first of them starts it. */
async function startShared(): Promise<Shared> {
  const server = await startEmbeddedPostgres({
    dataDirectory: await sharedData(),
    databases: [TEMPLATE],
    log: quiet,
    settings: {
      max_connections: "500",
      // it is thrown away: the machine may crash
      fsync: "off",
      synchronous_commit: "off",
      full_page_writes: "off",
      // it may lie in memory
      max_wal_size: "256MB",
    },
  });
  return { server, admin: openDatabase(server.adminUrl("postgres"), { poolSize: 4 }) };
}

async function sharedData(): Promise<string> {
  const run = sharedMemory();
  if (run === undefined) return databaseDirectory();
  const folder = join(run, "shared");
  await mkdir(folder, { recursive: true, mode: 0o711 });
  return folder;
}

/** Migrates the template, of several processes in the one that comes first. */
async function makeTemplate(): Promise<void> {
  const { server, admin } = await (shared ??= startShared());
  await admin.transaction(async (trx) => {
    await trx.raw("select pg_advisory_xact_lock(?)", [MAKING_TEMPLATE]);
    const made = await trx("pg_database").where({ datname: TEMPLATE, datistemplate: true }).first();
    if (made !== undefined) return;
    const db = openDatabase(server.url(TEMPLATE), { poolSize: 1 });
    try {
      await migrate(db);
    } finally {
      // while somebody is connected it cannot be copied
      await closeDatabase(db);
    }
    await trx.raw("alter database ?? with is_template true", [TEMPLATE]);
  });
}
