import pg from "pg";
import { Backoff } from "../runtime/backoff.ts";
import { errorCode } from "../runtime/error-code.ts";
import { sleep } from "../runtime/sleep.ts";
import { SERVER_LOCKS } from "./advisory-locks.ts";
import { isUnavailable } from "./database.ts";
import { ADMIN } from "./postgres-cluster.ts";
import { PORT, launch, runningPid, stopPostmaster } from "./postmaster.ts";
import type { Launched, Postmaster } from "./postmaster.ts";

/**
 * A connection that represents a process that uses the server. It holds a shared advisory lock: a process that gets the lock
 * exclusively is the last one and may stop the server; one that arrives in the meantime waits, loses its connection and
 * restarts the server. The lock is released when the process dies, even by kill -9; the connection ends with the server.
 */
export interface Lease {
  readonly client: pg.Client;
  /** Settles when the connection has ended. */
  readonly gone: Promise<void>;
  /** The server was already running. */
  readonly adopted: boolean;
}

const POLL_MS = 20;
/** How long a running server may not respond at all; one in recovery does respond, and may take longer. */
const SILENT_MS = 60_000;
const RECOVERY_MS = 3_600_000;
/** How often a failed start is retried: others may start at the same time, and remains of a crash take time to end. */
const STARTS = 6;
const BETWEEN_STARTS = { firstMs: 400, longestMs: 6_400 };

/** The connection string of a role and a database of this server. */
export function connectionUrl(server: Postmaster, role: string, password: string, database: string): string {
  const url = new URL(`postgresql://localhost/${database}`);
  url.username = role;
  url.password = password;
  // replaces the host name, also for libpq
  url.searchParams.set("host", server.cluster.socketDirectory);
  url.searchParams.set("port", String(PORT));
  return url.href;
}

/**
 * Attaches to the server, and starts it if it is not running.
 *
 * @param isGivenUp - whether to stop if nothing has been started yet; a server that has been started is waited for, so that it
 *   can be stopped.
 * @throws Error with the server's own messages, if it does not start.
 */
export async function takeLease(server: Postmaster, isGivenUp = () => false): Promise<Lease> {
  const begun = Date.now();
  let launched: Launched | undefined;
  const backoff = new Backoff(BETWEEN_STARTS);
  for (;;) {
    const answer = await attach(server);
    if (typeof answer === "object") return { ...answer, adopted: launched?.ended() ?? true };
    const isStarting = launched?.ended() === false;
    if (!isStarting && isGivenUp()) throw new Error("PostgreSQL is no longer needed");
    if (answer === "starting") {
      if (Date.now() - begun > RECOVERY_MS) throw new Error("PostgreSQL did not become ready within an hour");
    } else if (isStarting || (await runningPid(server.cluster.data)) !== undefined) {
      if (Date.now() - begun > SILENT_MS) throw silent(server);
    } else {
      if (launched !== undefined) {
        const pause = backoff.failed();
        if (backoff.failures >= STARTS) throw new Error(`PostgreSQL did not start: ${await launched.said()}`);
        await sleep(pause);
      }
      launched = await launch(server);
    }
    await sleep(POLL_MS);
  }
}

function silent({ cluster }: Postmaster): Error {
  return new Error(
    `PostgreSQL is running on \`${cluster.data}\`, but does not respond in \`${cluster.socketDirectory}\``,
  );
}

/** @returns the connection, or why there is none: no server listens, or it is starting or stopping. */
async function attach(server: Postmaster): Promise<Omit<Lease, "adopted"> | "absent" | "starting"> {
  const client = new pg.Client({
    connectionString: connectionUrl(server, ADMIN, server.cluster.passwords.admin, "postgres"),
    application_name: "gatehouse supervisor",
  });
  const gone = new Promise<void>((resolve) => {
    client.once("end", resolve);
  });
  // the `end` event reports it, too
  client.on("error", () => undefined);
  try {
    await client.connect();
    // statements here may contain passwords: keep them out of the server's log
    await client.query("SET log_min_error_statement TO panic");
    await client.query("select pg_advisory_lock_shared($1)", [SERVER_LOCKS.inUse]);
    return { client, gone };
  } catch (error) {
    await client.end().catch(() => undefined);
    const code = errorCode(error);
    // out of connections: waiting does not help
    if (!isUnavailable(error) || code?.startsWith("53") === true) throw error;
    return code === "ENOENT" || code === "ECONNREFUSED" ? "absent" : "starting";
  }
}

/** Ends the lease, and stops the server if no other process has one. */
export async function endLease(
  server: Postmaster,
  { client }: Lease,
  log: { warn(message: string): void },
): Promise<void> {
  try {
    await client.query("select pg_advisory_unlock_shared($1)", [SERVER_LOCKS.inUse]);
    const { rows } = await client.query<{ last: boolean }>("select pg_try_advisory_lock($1) as last", [
      SERVER_LOCKS.inUse,
    ]);
    if (rows[0]?.last === true && !(await stopPostmaster(server.cluster.data))) {
      log.warn("PostgreSQL did not stop within a minute; leaving it to stop by itself");
    }
  } catch (error) {
    // already closed
    if (!isUnavailable(error)) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
