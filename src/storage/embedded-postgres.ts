import type pg from "pg";
import { sleep } from "../runtime/sleep.ts";
import { SERVER_LOCKS } from "./advisory-locks.ts";
import { prepareBinaries } from "./postgres-binaries.ts";
import { ADMIN, assertHasCluster, openCluster } from "./postgres-cluster.ts";
import { openHome } from "./postgres-home.ts";
import { connectionUrl, endLease, takeLease } from "./postgres-lease.ts";
import type { Lease } from "./postgres-lease.ts";
import { runningPid } from "./postmaster.ts";
import type { Postmaster } from "./postmaster.ts";
import { errorMessage } from "../text/index.ts";

export interface EmbeddedPostgresOptions {
  /** The data are in its folder `postgres`. */
  readonly dataDirectory: string;
  readonly databases: readonly string[];
  /** Make the data and the databases where they are missing. Default: true. */
  readonly create?: boolean;
  readonly log: StorageLog;
  /** Start the server again when it ends by itself. Default: true. */
  readonly keepRunning?: boolean;
  /** PostgreSQL's settings, before those of its file. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface StorageLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface EmbeddedPostgres {
  /** Connects as the owner of the database, who is no superuser. Holds a password. */
  url(database: string): string;
  /** Connects as the superuser, for what no service needs. Holds a password. */
  adminUrl(database: string): string;
  /** The server ran already: another process has started it. */
  readonly adopted: boolean;
  /** The server's process, where it runs. */
  pid(): Promise<number | undefined>;
  /** Stops the server when no other process uses it. Pools are to be closed before. */
  close(): Promise<void>;
}

const OWNER = "gatehouse";
const RETRY_MS = 1000;

/**
 * Runs the PostgreSQL that comes with the package on a data directory, for all processes that ask for it: the first one
 * starts it, the last one stops it. It outlives a process that is killed, and the next one finds it. It listens on a
 * Unix socket only, in a folder that is closed to other users, and asks for a password besides.
 *
 * @throws Error with what to do, where it does not run.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { databases, log, create = true, settings = {} } = options;
  if (!create) await assertHasCluster(options.dataDirectory);
  const home = await openHome(options.dataDirectory, log);
  const binaries = await prepareBinaries(home, log);
  const cluster = await openCluster(home, binaries);
  const server: Postmaster = { home, binaries, cluster, settings };
  const lease = await takeLease(server);
  try {
    if (create) await makeDatabases(lease.client, server, databases);
  } catch (error) {
    await endLease(server, lease, log);
    throw error;
  }
  const keeper = keep(server, lease, options);
  const { passwords } = cluster;
  return {
    adopted: lease.adopted,
    url: (database) => connectionUrl(server, OWNER, passwords.application, database),
    adminUrl: (database) => connectionUrl(server, ADMIN, passwords.admin, database),
    pid: () => runningPid(cluster.data),
    close: () => keeper.close(),
  };
}

/** Makes the role and the databases that are missing; one process at a time, for PostgreSQL makes a database only once. */
async function makeDatabases(client: pg.Client, server: Postmaster, names: readonly string[]): Promise<void> {
  await client.query("select pg_advisory_lock($1)", [SERVER_LOCKS.settingUp]);
  const roles = await client.query("select from pg_roles where rolname = $1", [OWNER]);
  const owner = client.escapeIdentifier(OWNER);
  if (roles.rowCount === 0) {
    const password = client.escapeLiteral(server.cluster.passwords.application);
    await client.query(`create role ${owner} login password ${password}`);
  }
  for (const name of names) {
    const found = await client.query("select from pg_database where datname = $1", [name]);
    if (found.rowCount !== 0) continue;
    await client.query(`create database ${client.escapeIdentifier(name)} owner ${owner}`);
  }
  await client.query("select pg_advisory_unlock($1)", [SERVER_LOCKS.settingUp]);
}

/** Takes a new lease, and so starts the server, whenever the server has gone. */
function keep(
  server: Postmaster,
  first: Lease,
  options: EmbeddedPostgresOptions,
): { close(): Promise<void> } {
  const { log, keepRunning = true } = options;
  let closing: Promise<void> | undefined;
  let lease: Promise<Lease | undefined> = Promise.resolve(first);
  const isClosing = () => closing !== undefined;

  const watch = (held: Lease): Lease => {
    void held.gone.then(() => {
      if (isClosing() || !keepRunning) return;
      log.warn("PostgreSQL has gone away; starting it again");
      lease = again();
    });
    return held;
  };

  const again = async (): Promise<Lease | undefined> => {
    while (!isClosing()) {
      try {
        return watch(await takeLease(server, isClosing));
      } catch (error) {
        if (isClosing()) break;
        log.warn(`PostgreSQL is still away: ${errorMessage(error)}`);
        await sleep(RETRY_MS);
      }
    }
    return undefined;
  };

  const close = async (): Promise<void> => {
    const held = await lease;
    if (held !== undefined) await endLease(server, held, log);
  };

  watch(first);
  return { close: () => (closing ??= close()) };
}
