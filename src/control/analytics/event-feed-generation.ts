import type { Knex } from "knex";

/** Which server this is, and which of its databases. */
export const CURRENT_SERVER = `(select system_identifier from pg_control_system()) || '.' ||
  (select oid from pg_database where datname = current_database())`;

/**
 * The generation of an event that is written now. On another server than the feed goes by it is the next one, so that no event gets
 * a place before what was read already; {@link renewFeedGeneration} begins that generation.
 */
export const GENERATION = `(select generation + (server <> ${CURRENT_SERVER})::int from event_feed)`;

/** Renewing waits for no longer than this for readers and writers, who queue behind it. */
const LOCK_WAIT_MS = 1_000;

/** Whether the numbers of this server are those that the feed goes by. */
export async function isSameServer(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { same: boolean }[] }>(
    `select server = ${CURRENT_SERVER} as same from event_feed`,
  );
  return rows[0]?.same === true;
}

/**
 * Numbers of transactions count on one server only. After a logical restore (`pg_dump`, `pg_restore`), or where logical replication has
 * moved the database, events have those of another one: then a new generation begins, and whatever is there comes before it.
 *
 * @returns whether a new one has begun
 */
export async function renewFeedGeneration(db: Knex): Promise<boolean> {
  if (await isSameServer(db)) return false;
  return db.transaction(async (trx) => {
    await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
    const { rows } = await trx.raw<{ rows: { generation: number; server: string; current: string }[] }>(
      `select generation, server, ${CURRENT_SERVER} as current from event_feed for update`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error("event_feed has no row");
    if (row.server === row.current) return false;
    const generation = row.generation + 1;
    await trx("event_feed").update({ generation, server: row.current });
    // of an earlier release that runs beside this one
    await trx.raw(`alter table events alter column feed_generation set default ${String(generation)}`);
    return true;
  });
}
