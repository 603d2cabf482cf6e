import type { Knex } from "knex";

/** Which server this is, and which of its databases. */
const CURRENT = `(select system_identifier from pg_control_system()) || '.' ||
  (select oid from pg_database where datname = current_database())`;

/** Whether the numbers of this server are those that the feed goes by. */
export async function isSameServer(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { same: boolean }[] }>(
    `select server = ${CURRENT} as same from event_feed`,
  );
  return rows[0]?.same === true;
}

/**
 * Numbers of transactions count on one server only. After a logical restore (`pg_dump`, `pg_restore`) events have those of another one:
 * then a new generation begins, and whatever is there comes before it. To be called before anything writes events.
 */
export async function renewFeedGeneration(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { generation: number; server: string; current: string }[] }>(
      `select generation, server, ${CURRENT} as current from event_feed for update`,
    );
    const [row] = rows;
    if (row === undefined || row.server === row.current) return;
    const generation = row.generation + 1;
    await trx("event_feed").update({ generation, server: row.current });
    await trx.raw(`alter table events alter column feed_generation set default ${String(generation)}`);
  });
}
