import type { Knex } from "knex";

/**
 * Requests of the minute under way, by group and caller; columns as rate-limiter-flexible wants them. Unlogged: no
 * request waits for a disk, and a crash forgets counts that are over within a minute anyway. Room in each page, and no
 * index but the key: counting then changes no index.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(
    `create unlogged table rate_limits (
       key varchar(255) primary key,
       points integer not null default 0,
       expire bigint
     ) with (fillfactor = 50)`,
  );
}
