import type { Knex } from "knex";

/** The time of the database's clock, which is the same for all instances. In a transaction: now, not at its start. */
export async function databaseNow(db: Knex): Promise<Date> {
  const { now } = await db.select({ now: db.raw("clock_timestamp()") }).first<{ now: Date }>();
  return now;
}
