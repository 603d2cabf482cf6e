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
 * A connection that stands for one process that uses the server. It holds a shared advisory lock: whoever gets the lock
 * alone is the last one and may stop the server, while one that comes meanwhile waits, loses its connection and starts
 * the server again. The lock goes with the process, kill -9 included, and the connection goes with the server.
 */
export interface Lease {
  readonly client: pg.Client;
  /** Settles when the connection has ended. */
  readonly gone: Promise<void>;
  /** The server ran already. */
  readonly adopted: boolean;
}

const POLL_MS = 20;
/** A server that runs and does not answer; one that recovers does answer, and may take its time. */
const SILENT_MS = 60_000;
const RECOVERY_MS = 3_600_000;
/** How often a start is tried that fails; others start at the same time, and what a crash has left takes time to end. */
const STARTS = 6;
const BETWEEN_STARTS = { firstMs: 400, longestMs: 6_400 };

/** The connection string of a role and a database of this server. */
export function connectionUrl(server: Postmaster, role: string, password: string, database: string): string {
  const url = new URL(`postgresql://localhost/${database}`);
  url.username = role;
  url.password = password;
  // takes the place of the host name, also for libpq
  url.searchParams.set("host", server.cluster.socketDirectory);
  url.searchParams.set("port", String(PORT));
  return url.href;
}

/**
 * Attaches to the server, and starts it where it does not run.
 *
 * @param isGivenUp - whether to leave it when nothing has been started yet; what has been started is waited for, so that
 *   it can be stopped.
 * @throws Error with the server's own words, when it does not start.
 */
export async function takeLease(server: Postmaster, isGivenUp = () => false): Promise<Lease> {
  const begun = Date.now();
  let launched: Launched | undefined;
  const backoff = new Backoff(BETWEEN_STARTS);
  for (;;) {
    const answer = await attach(server);
    if (typeof answer === "object") return { ...answer, adopted: launched?.ended() ?? true };
    const isStarting = launched?.ended() === false;
    if (!isStarting && isGivenUp()) throw new Error("PostgreSQL is not needed any more");
    if (answer === "starting") {
      if (Date.now() - begun > RECOVERY_MS) throw new Error("PostgreSQL has not become ready within an hour");
    } else if (isStarting || (await runningPid(server.cluster.data)) !== undefined) {
      if (Date.now() - begun > SILENT_MS) throw silent(server);
    } else {
      if (launched !== undefined) {
        const pause = backoff.failed();
        if (backoff.failures >= STARTS)
          throw new Error(`PostgreSQL does not start: ${await launched.said()}`);
        await sleep(pause);
      }
      launched = await launch(server);
    }
    await sleep(POLL_MS);
  }
}

function silent({ cluster }: Postmaster): Error {
  return new Error(`PostgreSQL runs on ${cluster.data}, but does not answer in ${cluster.socketDirectory}`);
}

/** @returns the connection, or why there is none: no server listens, or it does not serve yet or any more. */
async function attach(server: Postmaster): Promise<Omit<Lease, "adopted"> | "absent" | "starting"> {
  const client = new pg.Client({
    connectionString: connectionUrl(server, ADMIN, server.cluster.passwords.admin, "postgres"),
    application_name: "gatehouse supervisor",
  });
  const gone = new Promise<void>((resolve) => {
    client.once("end", resolve);
  });
  // the end says it as well
  client.on("error", () => undefined);
  try {
    await client.connect();
    // statements here may hold passwords: none goes to the server's log
    await client.query("SET log_min_error_statement TO panic");
    await client.query("select pg_advisory_lock_shared($1)", [SERVER_LOCKS.inUse]);
    return { client, gone };
  } catch (error) {
    await client.end().catch(() => undefined);
    const code = errorCode(error);
    // full: not a thing to wait for
    if (!isUnavailable(error) || code?.startsWith("53") === true) throw error;
    return code === "ENOENT" || code === "ECONNREFUSED" ? "absent" : "starting";
  }
}

/** Ends the lease, and the server with it when no other process has one. */
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
      log.warn("PostgreSQL has not ended within a minute; it is left to end by itself");
    }
  } catch (error) {
    // gone already
    if (!isUnavailable(error)) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
