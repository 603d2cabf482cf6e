import type { Knex } from "knex";
import { backoffMs } from "../runtime/backoff.ts";
import { errorCode } from "../runtime/error-code.ts";
import { sleep } from "../runtime/sleep.ts";
import type { Database } from "./database.ts";

export interface TransactionOptions {
  /** Default: read committed, the server's. */
  readonly isolationLevel?: "repeatable read" | "serializable";
  /** Maximum number of attempts after conflicts. Default: 5. */
  readonly attempts?: number;
}

const ATTEMPTS = 5;
const BETWEEN_ATTEMPTS = { firstMs: 30, longestMs: 1_000 };
/** serialization_failure and deadlock_detected: nothing was done, and a retry may succeed. */
const LOST: ReadonlySet<string> = new Set(["40001", "40P01"]);

/**
 * Runs `work` in one transaction: committed if it resolves, rolled back if it throws. After a conflict with another
 * transaction it runs again from the start, so `work` must not have effects outside the database.
 *
 * @throws what `work` throws, and an Error if a statement failed and `work` ignored that: PostgreSQL answers the COMMIT of such
 *   a transaction with a rollback and no error.
 */
export async function transaction<T>(
  db: Database,
  work: (trx: Knex.Transaction) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { isolationLevel, attempts = ATTEMPTS } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(
        (trx) => once(trx, work),
        isolationLevel === undefined ? {} : { isolationLevel },
      );
    } catch (error) {
      if (attempt >= attempts || !isLost(error)) throw error;
      await sleep(backoffMs(attempt, BETWEEN_ATTEMPTS));
    }
  }
}

async function once<T>(trx: Knex.Transaction, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  trx.on("query-error", (error: unknown) => failures.push(error));
  const result = await work(trx);
  // in a failed transaction this throws (25P02); after a rollback to a savepoint it does not
  if (failures.length > 0) await trx.raw("select 1");
  return result;
}

function isLost(error: unknown): boolean {
  return LOST.has(errorCode(error) ?? "");
}
