import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeDatabase, migrate, openDatabase, startEmbeddedPostgres } from "../../src/storage/index.ts";
import type { Database, EmbeddedPostgres } from "../../src/storage/index.ts";
import { eventually } from "./eventually.ts";

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
const quiet = { info: () => undefined, warn: () => undefined };

interface Shared {
  readonly server: EmbeddedPostgres;
  readonly admin: Database;
}

let shared: Promise<Shared> | undefined;
let template: Promise<void> | undefined;
let root: Promise<string> | undefined;

// of the root suite, for this file is loaded before any is described; a process that does not run mocha has no such thing
if (typeof after === "function") {
  after(async () => {
    if (shared === undefined) return;
    const { server, admin } = await shared;
    await closeDatabase(admin);
    await server.close();
  });
}

/** A database of its own, migrated and without rows: a copy of one that is migrated once a process. */
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
  await admin.raw("create database ?? template ?? owner gatehouse", [name, original]);
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

/** A server of its own, for tests that kill it. */
export async function privatePostgres(): Promise<PrivatePostgres> {
  const dataDirectory = await temporaryDirectory();
  const start = () =>
    startEmbeddedPostgres({ dataDirectory, databases: ["gatehouse"], log: quiet, keepRunning: false });
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

/**
 * A folder that is removed when this process ends, however it ends; a PostgreSQL whose data directory it is (or whose
 * data directory lies directly below it) is stopped then.
 */
export async function temporaryDirectory(): Promise<string> {
  const folder = join(await (root ??= guardedRoot()), randomBytes(4).toString("hex"));
  await mkdir(folder);
  await chmod(folder, 0o711);
  return folder;
}

async function startShared(): Promise<Shared> {
  const server = await startEmbeddedPostgres({
    dataDirectory: await temporaryDirectory(),
    databases: [TEMPLATE],
    log: quiet,
    // it is thrown away: the machine may crash
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  });
  return { server, admin: openDatabase(server.adminUrl("postgres"), { poolSize: 4 }) };
}

async function makeTemplate(): Promise<void> {
  const { server } = await (shared ??= startShared());
  const db = openDatabase(server.url(TEMPLATE), { poolSize: 1 });
  try {
    await migrate(db);
  } finally {
    // while somebody is connected it cannot be copied
    await closeDatabase(db);
  }
}

/** Waits until its stdin closes, which it does with our end, then stops every server below the folder and removes it. */
const GUARDIAN = `cat >/dev/null
for file in "$1"/*/postgres/cluster/data/postmaster.pid "$1"/*/*/postgres/cluster/data/postmaster.pid; do
  read -r pid < "$file" || continue
  ps -o args= -p "$pid" | grep -qF "\${file%/*}" || continue
  kill -QUIT "$pid"
  i=0
  # its file goes last; the process may stay as a zombie where nobody waits for it
  while [ $i -lt 50 ] && [ -e "$file" ]; do sleep 0.1; i=$((i + 1)); done
  kill -KILL "$pid"
done
rm -rf "$1"`;

async function guardedRoot(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gatehouse-test-"));
  // PostgreSQL may run as another user
  await chmod(folder, 0o711);
  const guardian = spawn("/bin/sh", ["-c", GUARDIAN, "sh", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guardian.stdin.on("error", () => undefined);
  guardian.unref();
  // the pipe is not to keep mocha waiting either
  (guardian.stdin as unknown as { unref?: () => void }).unref?.();
  return folder;
}
