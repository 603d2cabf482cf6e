import knex from "knex";
import type { Knex } from "knex";
import pg from "pg";
import { errorCode } from "../runtime/error-code.ts";
import { breakOff, endWhenSilent } from "./end-when-silent.ts";

/** PostgreSQL through knex: a pool of connections, or a transaction of it. */
export type Database = Knex;

export interface DatabaseOptions {
  /** Maximum number of connections. Default: 10. */
  readonly poolSize?: number;
  /** Name of the connections in `pg_stat_activity`. */
  readonly applicationName?: string;
  /**
   * A statement that takes longer is cancelled, and a transaction ended whose next statement does not come for as long. Where the
   * server says nothing for some seconds more, the connection is given up. Default: 30 s; 0 is no limit.
   */
  readonly statementTimeoutMs?: number;
  /** How long a caller waits for a free connection. Default: 10 s. */
  readonly acquireTimeoutMs?: number;
  /** Called whenever a caller has timed out waiting for a connection. */
  readonly onExhausted?: () => void;
}

const POOL_SIZE = 10;
const STATEMENT_TIMEOUT_MS = 30_000;
/** How long a server may take to accept a connection; an unavailable one must not block every request. */
const CONNECT_TIMEOUT_MS = 5_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
/** So much later than a statement is to be cancelled, a server that has said nothing is taken for dead. */
const LONGEST_SILENCE_MS = 5_000;

/** The part of tarn's pool, which knex uses internally. */
interface PoolEvents {
  on(event: "acquireFail", listener: (request: number, error: Error) => void): void;
}

/** Keeps knex from printing to the console; the caller gets every failure as an error. */
const SILENT: Knex.Logger = {
  warn: () => undefined,
  error: () => undefined,
  deprecate: () => undefined,
  debug: () => undefined,
};

/**
 * Opens a pool of connections; the first one is made on demand. `timestamptz` is read as `Date`, `int8` as a number if that
 * is exact and as text otherwise, `date` as `YYYY-MM-DD`, `jsonb` parsed.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  return openPool(url, options, (connection) => setUp(connection, Math.trunc(statementTimeoutMs)));
}

/** @param prepare - readies each new connection; one that it rejects for is not used */
function openPool(
  url: string,
  options: DatabaseOptions & { readonly keep?: number },
  prepare: (connection: pg.Client) => Promise<unknown>,
): Database {
  const db = knex({
    client: "pg",
    log: SILENT,
    connection: {
      connectionString: url,
      types: { getTypeParser },
      keepAlive: true,
      // a half-open connection is detected within minutes, not after the system's default of two hours
      keepAliveInitialDelayMillis: 30_000,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: options.applicationName ?? "gatehouse",
    } satisfies pg.ClientConfig as Knex.PgConnectionConfig,
    acquireConnectionTimeout: options.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS,
    pool: {
      min: options.keep ?? 0,
      max: options.poolSize ?? POOL_SIZE,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        prepare(connection).then(
          () => {
            done(null, connection);
          },
          (error: unknown) => {
            // the pool forgets it, and leaves it open
            breakOff(connection);
            done(error instanceof Error ? error : new Error(String(error)), connection);
          },
        );
      },
    },
  });
  const { onExhausted } = options;
  if (onExhausted !== undefined)
    (db.client as { readonly pool: PoolEvents }).pool.on("acquireFail", (_request, error) => {
      // if no connection can be made, its own error comes first
      if (error.constructor.name === "TimeoutError") onExhausted();
    });
  return db;
}

async function setUp(connection: pg.Client, timeoutMs: number): Promise<void> {
  if (timeoutMs > 0) endWhenSilent(connection, timeoutMs + Math.min(timeoutMs, LONGEST_SILENCE_MS));
  await connection.query(
    `SET timezone TO 'UTC'; SET statement_timeout TO ${timeoutMs};
     SET idle_in_transaction_session_timeout TO ${timeoutMs}`,
  );
}

/**
 * Runs `work` on one connection outside the pool, which is closed afterwards: for session state, and for long statements.
 * If that connection is lost, every further statement of `work` fails: a session lock is lost with it, and another connection
 * would go on without.
 */
export async function withSession<T>(db: Database, work: (session: Database) => Promise<T>): Promise<T> {
  const { connection } = (db.client as { readonly config: { readonly connection: pg.ClientConfig } }).config;
  let isFirst = true;
  const session = openPool(
    connection.connectionString ?? "",
    {
      poolSize: 1,
      // one that nobody uses for a while would be closed
      keep: 1,
      ...(connection.application_name !== undefined && { applicationName: connection.application_name }),
    },
    async (made) => {
      if (!isFirst) throw new Error("the connection of this session is lost, and its locks with it");
      isFirst = false;
      await setUp(made, 0);
    },
  );
  try {
    return await work(session);
  } finally {
    await closeDatabase(session);
  }
}

/** Closes the pool: waits for running statements, then closes every connection. */
export async function closeDatabase(db: Database): Promise<void> {
  await db.destroy();
}

const { INT8, DATE } = pg.types.builtins;

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

function getTypeParser(oid: TypeId, format?: "text" | "binary"): (text: string) => unknown {
  if (format !== "binary") {
    if (oid === INT8) return readInt8;
    // a day has no time zone: as a `Date` it would shift with the machine's time zone
    if (oid === DATE) return (text) => text;
  }
  return pg.types.getTypeParser(oid, format) as (text: string) => unknown;
}

function readInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

/**
 * SQLSTATEs of a server that is going, gone, starting, a standby since a failover, or too busy for one that has lost to
 * others again and again, or that has ended a transaction nothing came for (PostgreSQL, appendix A); classes 08 (connection) and 53 (full) are added below.
 */
const AWAY_STATES: ReadonlySet<string> = new Set([
  ...["57P01", "57P02", "57P03", "25006", "25P03", "40001", "40P01"],
]);

/** Error codes of the operating system if no server is reachable. */
const AWAY_ERRNO: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENOTFOUND", "EAI_AGAIN"],
]);

/** Errors without a code that `pg` itself raises for a lost connection. knex puts the statement in front. */
const AWAY_TEXTS = [
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Connection ended unexpectedly",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "timeout expired",
] as const;

/**
 * Whether the database is unavailable, shutting down, starting or out of connections, as opposed to an error in the
 * statement. Callers answer 503, because the same request may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof knex.KnexTimeoutError) return true;
  const code = errorCode(error);
  if (code !== undefined) {
    if (AWAY_STATES.has(code) || AWAY_ERRNO.has(code) || /^(?:08|53)[0-9A-Z]{3}$/.test(code)) return true;
    // a missing Unix socket, as opposed to any other file
    return code === "ENOENT" && "syscall" in error && error.syscall === "connect";
  }
  // a host name with several addresses fails with all their errors together
  if (error instanceof AggregateError) return error.errors.every(isUnavailable);
  return AWAY_TEXTS.some((text) => error.message === text || error.message.endsWith(` - ${text}`));
}

/** Whether a statement was cancelled (query_canceled), which it is when it takes longer than its pool allows. */
export function isCanceled(error: unknown): boolean {
  return errorCode(error) === "57014";
}

/** Whether the error is a unique violation, of the given constraint or index if there is one. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof Error) || errorCode(error) !== "23505") return false;
  return constraint === undefined || ("constraint" in error && error.constraint === constraint);
}
