import { setTimeout as delay } from "node:timers/promises";
import type { Knex } from "knex";

/** Deliveries are written to all the time: their index is built meanwhile, which PostgreSQL does in no transaction. */
export const config = { transaction: false };

const INDEX = "webhook_deliveries_by_sequence";
const ATTEMPTS = 10;
const PAUSE_MS = 500;
/** lock_not_available, deadlock_detected */
const LOST = ["55P03", "40P01"];

/** The highest number of all deliveries is looked at every minute. A build that was interrupted leaves an invalid index, which goes first. */
export async function up(session: Knex): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await session.raw<{ rows: object[] }>(
        "select from pg_index where indexrelid = to_regclass(?) and not indisvalid",
        [INDEX],
      );
      if (rows.length > 0) await session.raw("drop index concurrently if exists ??", [INDEX]);
      await session.raw("create index concurrently if not exists ?? on webhook_deliveries (sequence)", [
        INDEX,
      ]);
      return;
    } catch (error) {
      const isLost = error instanceof Error && "code" in error && LOST.includes(String(error.code));
      if (!isLost || attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}
