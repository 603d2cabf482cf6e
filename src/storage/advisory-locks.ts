import type { Knex } from "knex";
import { sleep } from "../runtime/sleep.ts";

const POLL_MS = 100;

/**
 * The advisory locks of an environment's database, and what each protects. All numbers of a database are listed here, so that
 * they are unique. They must not change, because instances of two versions may run side by side.
 */
export const ADVISORY_LOCKS = {
  /** Migrations: one instance applies them, the others find them applied. */
  migrations: 5_187_413_001,
  /** Migrations that run outside a transaction. */
  migrationsOutside: 5_187_413_002,
  /** The order of changes for gateways: they are numbered in commit order. */
  gatewayChanges: 5_187_413_022,
  /** Creating and removing signing keys: one key is created even if several instances find it due. */
  signingKeys: 5_187_413_030,
  /** Creating the first owner of the dashboard, or the setup link. */
  dashboardSetup: 5_187_413_041,
  /** Creating and dropping the partitions of daily tables. */
  partitions: 5_187_413_050,
  /** Seeding a sandbox, at its first start and at a reset. */
  sandboxFilling: 5_187_413_080,
} as const;

/**
 * Advisory locks of single rows: this number and a hash of the row's id. PostgreSQL keeps pairs of numbers separate from
 * single numbers.
 */
export const ROW_LOCKS = {
  /** New kinds of violations of a webhook, whose number is limited. */
  webhookWindows: 518_741_302,
} as const;

/** The advisory locks of the embedded server's own database `postgres`. */
export const SERVER_LOCKS = {
  /** Shared by every process that uses the server; the one that gets it exclusively is the last and stops the server. */
  inUse: 1,
  /** Creating the role and the databases. */
  settingUp: 2,
} as const;

/** Acquires a lock that is held until the transaction ends. */
export async function lockUntilEnd(trx: Knex, lock: keyof typeof ADVISORY_LOCKS): Promise<void> {
  await trx.raw("select pg_advisory_xact_lock(?)", [ADVISORY_LOCKS[lock]]);
}

/**
 * The same, of a lock that others hold for longer than a statement may take: it is asked for again and again.
 *
 * @returns whether it was got in time
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

/** {@link lockUntilEnd} for each of these rows, always in one order, so that no two transactions wait for each other in a circle. */
export async function lockRowsUntilEnd(
  trx: Knex,
  lock: keyof typeof ROW_LOCKS,
  ids: readonly string[],
): Promise<void> {
  await trx.raw(
    `select pg_advisory_xact_lock(?, hash)
     from (select distinct hashtext(id) as hash from unnest(?::text[]) as id order by hash) as locks`,
    [ROW_LOCKS[lock], [...ids]],
  );
}
