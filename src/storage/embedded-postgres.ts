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
  /** The data directory; the data are in its folder `postgres`. */
  readonly dataDirectory: string;
  readonly databases: readonly string[];
  /** Create the data and the databases if they are missing. Default: true. */
  readonly create?: boolean;
  readonly log: StorageLog;
  /** Restart the server if it exits by itself. Default: true. */
  readonly keepRunning?: boolean;
  /** PostgreSQL settings, which take precedence over its file. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface StorageLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface EmbeddedPostgres {
  /** URL for the owner of the database, who is not a superuser. Contains a password. */
  url(database: string): string;
  /** URL for the superuser, which no service needs. Contains a password. */
  adminUrl(database: string): string;
  /** The server was already running: another process started it. */
  readonly adopted: boolean;
  /** The server's process id, if it is running. */
  pid(): Promise<number | undefined>;
  /** Stops the server if no other process uses it. Close all pools first. */
  close(): Promise<void>;
}

const OWNER = "gatehouse";
const RETRY_MS = 1000;

/**
 * Runs the embedded PostgreSQL on a data directory, for all processes that need it: the first one starts it, the last one
 * stops it. It survives a process that is killed, and the next one finds it. It listens only on a Unix socket, in a folder
 * that is closed to other users, and also requires a password.
 *
 * @throws Error that says what to do, if it does not run.
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

/** Creates the missing role and databases; one process at a time, because creating a database twice fails. */
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

/** Acquires a new lease, and so restarts the server, whenever the server has exited. */
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
      log.warn("PostgreSQL exited; restarting");
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
        log.warn(`could not restart PostgreSQL: ${errorMessage(error)}`);
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
