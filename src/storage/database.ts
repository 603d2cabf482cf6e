import knex from "knex";
import type { Knex } from "knex";
import pg from "pg";
import { errorCode } from "../runtime/error-code.ts";
import { CallerTurns, currentCaller, TooManyWaitingError, type RefusedTurn } from "./caller-turns.ts";
import { breakOff, endWhenSilent } from "./end-when-silent.ts";

/** PostgreSQL through knex: a pool of connections, or one of its transactions. */
export type Database = Knex;

export interface DatabaseOptions {
  /** Maximum number of connections. Default: 10. */
  readonly poolSize?: number;
  /** The name of the connections in `pg_stat_activity`. */
  readonly applicationName?: string;
  /**
   * A statement that takes longer is cancelled, and a transaction is ended if its next statement does not arrive within
   * this time. If the server sends nothing for some more seconds, the connection is closed. Default: 30 s; 0 means no
   * limit.
   */
  readonly statementTimeoutMs?: number;
  /** How long a caller waits for a free connection. Default: 10 s. */
  readonly acquireTimeoutMs?: number;
  /** Called when a caller has waited for a connection in vain. */
  readonly onExhausted?: () => void;
  /** Number of connections that stay open while they are idle; one that is lost is replaced when it is needed. Default: 0. */
  readonly keep?: number;
  /**
   * Whether callers (`forCaller`) take turns: one waits for its turn as long as a statement may take. What is not done for
   * one caller only waits for a connection. Default: false.
   */
  readonly inTurns?: boolean;
  /** Connections that one caller may have while others wait for none. Default: all but one. */
  readonly mostOfCaller?: number;
  /** Called when a caller gets no turn. The pool need not be exhausted: others get theirs. */
  readonly onRefusedTurn?: (refused: RefusedTurn) => void;
}

const POOL_SIZE = 10;
const STATEMENT_TIMEOUT_MS = 30_000;
/** How long a server may take to accept a connection, so that one that is unavailable does not delay every request. */
const CONNECT_TIMEOUT_MS = 5_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
/** This long after a statement should have been cancelled, a server that has sent nothing is considered dead. */
const LONGEST_SILENCE_MS = 5_000;

/** Part of tarn's pool, which knex uses internally. */
interface PoolEvents {
  on(event: "acquireFail", listener: (request: number, error: Error) => void): void;
}

/** Part of knex's client: every statement, stream and transaction takes its connection here. */
interface Connections {
  acquireConnection(): Promise<object>;
  releaseConnection(connection: object): Promise<void>;
}

/** knex would print to the console; the caller gets every failure as an error. */
const SILENT: Knex.Logger = {
  warn: () => undefined,
  error: () => undefined,
  deprecate: () => undefined,
  debug: () => undefined,
};

/**
 * Opens a pool of connections; the first connection is made when it is needed. `timestamptz` is read as `Date`, `int8`
 * as a number if that is exact and otherwise as text, `date` as `YYYY-MM-DD`, `jsonb` parsed.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  return openPool(url, options, (connection) => setUp(connection, Math.trunc(statementTimeoutMs)));
}

/** @param prepare - prepares each new connection; if it rejects, the connection is not used */
function openPool(
  url: string,
  options: DatabaseOptions,
  prepare: (connection: pg.Client) => Promise<unknown>,
): Database {
  const db = knex({
    client: "pg",
    log: SILENT,
    connection: {
      connectionString: url,
      types: { getTypeParser },
      keepAlive: true,
      // detects a dead connection within minutes, not after the system's two hours
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
            // the pool forgets it, but leaves it open
            breakOff(connection);
            done(error instanceof Error ? error : new Error(String(error)), connection);
          },
        );
      },
    },
  });
  const { onExhausted } = options;
  if (options.inTurns === true) takeTurns(db.client as Connections, options);
  if (onExhausted !== undefined)
    (db.client as { readonly pool: PoolEvents }).pool.on("acquireFail", (_request, error) => {
      // if no connection can be made, that error comes first
      if (error.constructor.name === "TimeoutError") onExhausted();
    });
  return db;
}

/** Before a connection is taken for a caller, it must be that caller's turn. */
function takeTurns(
  client: Connections,
  {
    poolSize = POOL_SIZE,
    mostOfCaller,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    onRefusedTurn,
  }: DatabaseOptions,
): void {
  const turns = new CallerTurns({
    atOnce: poolSize,
    longestMs: statementTimeoutMs,
    ...(mostOfCaller !== undefined && { mostOfOne: mostOfCaller }),
    ...(onRefusedTurn !== undefined && { onRefused: onRefusedTurn }),
  });
  const acquire = client.acquireConnection.bind(client);
  const release = client.releaseConnection.bind(client);
  const endTurn = new WeakMap<object, () => void>();
  client.acquireConnection = async () => {
    const caller = currentCaller();
    if (caller === undefined) return acquire();
    const end = await turns.take(caller);
    try {
      const connection = await acquire();
      endTurn.set(connection, end);
      return connection;
    } catch (error) {
      end();
      throw error;
    }
  };
  client.releaseConnection = async (connection) => {
    // before the release, which may already hand it to another caller
    const end = endTurn.get(connection);
    endTurn.delete(connection);
    try {
      await release(connection);
    } finally {
      end?.();
    }
  };
}

async function setUp(connection: pg.Client, timeoutMs: number): Promise<void> {
  if (timeoutMs > 0) endWhenSilent(connection, timeoutMs + Math.min(timeoutMs, LONGEST_SILENCE_MS));
  await connection.query(
    `SET timezone TO 'UTC'; SET statement_timeout TO ${timeoutMs};
     SET idle_in_transaction_session_timeout TO ${timeoutMs}`,
  );
}

/**
 * Runs `work` on one connection outside the pool, which is closed afterwards: for session state, and for long
 * statements. If that connection is lost, every further statement of `work` fails: the session's locks are lost with
 * it, and another connection would continue without them.
 */
export async function withSession<T>(db: Database, work: (session: Database) => Promise<T>): Promise<T> {
  const { connection } = (db.client as { readonly config: { readonly connection: pg.ClientConfig } }).config;
  let isFirst = true;
  const session = openPool(
    connection.connectionString ?? "",
    {
      poolSize: 1,
      // an idle connection would be closed
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

/** Closes the pool: waits for running work, then closes every connection. */
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
 * SQLSTATEs of a server that is stopping, stopped, starting, or a standby since a failover, and of a transaction that
 * has lost too many conflicts or was ended because it was idle (PostgreSQL, appendix A); classes 08 (connection) and 53
 * (resources) are added below, without a statement that has too many parameters (08P01): it has as many the next time.
 */
const AWAY_STATES: ReadonlySet<string> = new Set([
  ...["57P01", "57P02", "57P03", "25006", "25P03", "40001", "40P01"],
]);

/** The operating system's error codes for a connection without a server. */
const AWAY_ERRNO: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENOTFOUND", "EAI_AGAIN"],
]);

/**
 * Errors that `pg` itself creates for a lost connection. They have no code, and knex puts the statement before them.
 */
const AWAY_TEXTS = [
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Connection ended unexpectedly",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "timeout expired",
] as const;

/** An error of the program with a code (08P01) that programs which pool connections use when there is no server. */
const TOO_MANY_PARAMETERS = /bind message has \d+ parameter/;

/**
 * Whether the database is unavailable, shutting down, starting or out of connections, as opposed to an error in the
 * request. Callers answer 503, because the same request may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof knex.KnexTimeoutError || error instanceof TooManyWaitingError) return true;
  const code = errorCode(error);
  if (code !== undefined) {
    if (AWAY_STATES.has(code) || AWAY_ERRNO.has(code) || /^(?:08|53)[0-9A-Z]{3}$/.test(code))
      return !TOO_MANY_PARAMETERS.test(error.message);
    // a Unix socket that does not exist, as opposed to any other file
    return code === "ENOENT" && "syscall" in error && error.syscall === "connect";
  }
  // a host name with several addresses fails with all their errors together
  if (error instanceof AggregateError) return error.errors.every(isUnavailable);
  return AWAY_TEXTS.some((text) => error.message === text || error.message.endsWith(` - ${text}`));
}

/** Whether a statement was cancelled (query_canceled) because it took longer than its pool allows. */
export function isCanceled(error: unknown): boolean {
  return errorCode(error) === "57014";
}

/** Whether a row with the same key already exists; for one constraint or index, if its name is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof Error) || errorCode(error) !== "23505") return false;
  return constraint === undefined || ("constraint" in error && error.constraint === constraint);
}
