import type { Knex } from "knex";
import { sleep } from "../runtime/sleep.ts";

const POLL_MS = 100;

/**
 * The advisory locks of an environment's database, and what each protects. All numbers of a database are listed here,
 * so that no two are equal. They never change, because instances of two versions may run side by side.
 */
export const ADVISORY_LOCKS = {
  /** Migrations: one instance applies them, the others find them already applied. */
  migrations: 5_187_413_001,
  /** Migrations that run outside a transaction. */
  migrationsOutside: 5_187_413_002,
  /** The order of changes for gateways: their numbers follow the order of commits. */
  gatewayChanges: 5_187_413_022,
  /** Creating and removing signing keys: one key is created, however many instances find it due. */
  signingKeys: 5_187_413_030,
  /** Creating the first owner of the dashboard, or the link for that. */
  dashboardSetup: 5_187_413_041,
  /** Creating and dropping the partitions of daily tables. */
  partitions: 5_187_413_050,
  /** Seeding a sandbox: at its first start, and at a reset. */
  sandboxFilling: 5_187_413_080,
} as const;

/**
 * Advisory locks for one row each: this number, and a hash of the row's id. PostgreSQL keeps pairs of numbers apart
 * from single numbers.
 */
export const ROW_LOCKS = {
  /** New kinds of violations of a webhook, whose number is limited. */
  webhookWindows: 518_741_302,
  /** The right to write, of an API key or a dashboard user: writes share it until they commit, a withdrawal takes it alone. */
  credentials: 518_741_303,
  /** A customer, in the same way: writes that need it to stay as it is, and its suspension or deletion. */
  customers: 518_741_304,
  /** A user: refreshes, and their suspension or deletion. */
  users: 518_741_305,
  /** A policy: assignments, and its change or deletion. */
  policies: 518_741_306,
  /** The gateways of an API key, and those that report about a rollout, whose number is limited. */
  gateways: 518_741_307,
  /** The webhooks of a customer, or of none, whose number is limited. */
  webhooks: 518_741_308,
} as const;

/** The advisory locks of the embedded server's own database `postgres`. */
export const SERVER_LOCKS = {
  /**
   * Shared by every process that uses the server; the one that gets it exclusively is the last, and stops the server.
   */
  inUse: 1,
  /** Creating the role and the databases. */
  settingUp: 2,
} as const;

/** Acquires a lock that is held until the transaction ends. */
export async function lockUntilEnd(trx: Knex, lock: keyof typeof ADVISORY_LOCKS): Promise<void> {
  await trx.raw("select pg_advisory_xact_lock(?)", [ADVISORY_LOCKS[lock]]);
}

/**
 * The same for a lock that others may hold longer than a statement may take: polls until it gets the lock.
 *
 * @returns whether the lock was acquired in time
 */
export async function lockUntilEndWithin(
  trx: Knex,
  lock: keyof typeof ADVISORY_LOCKS,
  ms: number,
): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (;;) {
    const { rows } = await trx.raw<{ rows: { locked: boolean }[] }>(
      "select pg_try_advisory_xact_lock(?) as locked",
      [ADVISORY_LOCKS[lock]],
    );
    if (rows[0]?.locked === true) return true;
    if (performance.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
}

/**
 * Acquires the lock of a row together with others who share it. These locks are granted in the order of the requests: who
 * wants the lock alone waits only for those who have it already. A shared lock of the row itself is granted past waiting
 * requests, so that a stream of them keeps an update out for as long as it lasts.
 */
export function lockRowShared(trx: Knex, lock: keyof typeof ROW_LOCKS, id: string): Promise<void> {
  return lockRowsShared(trx, lock, [id]);
}

/** The same for several rows, always in the same order, so that transactions cannot deadlock. */
export function lockRowsShared(
  trx: Knex,
  lock: keyof typeof ROW_LOCKS,
  ids: readonly string[],
): Promise<void> {
  return lockRows(trx, "pg_advisory_xact_lock_shared", lock, ids);
}

/**
 * Acquires the locks of these rows alone, always in the same order, so that transactions cannot deadlock. All locks of all
 * transactions share a table of limited size in PostgreSQL (`max_locks_per_transaction`): the number of rows must be bounded.
 */
export function lockRowsUntilEnd(
  trx: Knex,
  lock: keyof typeof ROW_LOCKS,
  ids: readonly string[],
): Promise<void> {
  return lockRows(trx, "pg_advisory_xact_lock", lock, ids);
}

async function lockRows(
  trx: Knex,
  acquire: "pg_advisory_xact_lock" | "pg_advisory_xact_lock_shared",
  lock: keyof typeof ROW_LOCKS,
  ids: readonly string[],
): Promise<void> {
  await trx.raw(
    `select ${acquire}(?, hash)
     from (select distinct hashtext(id) as hash from unnest(?::text[]) as id order by hash) as locks`,
    [ROW_LOCKS[lock], [...ids]],
  );
}
