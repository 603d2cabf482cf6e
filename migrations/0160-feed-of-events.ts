import { setTimeout as delay } from "node:timers/promises";
import type { Knex } from "knex";

/** Tables that may be large are written to while their indexes are built, which PostgreSQL does in no transaction. */
export const config = { transaction: false };

/**
 * Which transaction wrote an event, and on which server: the order of the feed. Rows from before have neither, and are not in it. An
 * earlier release that runs beside this one does not name the columns, and gets the defaults.
 */
export async function up(session: Knex): Promise<void> {
  await session.raw(`
    create table if not exists event_feed (
      only_row boolean primary key default true check (only_row),
      generation integer not null,
      server text not null
    );
    comment on column event_feed.server is
      'whose numbers of transactions count: on another one, after a logical restore, a new generation begins';
    insert into event_feed (generation, server)
      select 1, system_identifier || '.' || (select oid from pg_database where datname = current_database())
      from pg_control_system()
      on conflict do nothing;
  `);
  await briefly(
    session,
    "alter table ?? add column if not exists xid xid8, add column if not exists feed_generation integer",
    ["events"],
  );
  await briefly(
    session,
    "alter table ?? alter column xid set default pg_current_xact_id(), alter column feed_generation set default 1",
    ["events"],
  );
  await buildOnPartitions(
    session,
    "events_feed",
    "events",
    "(feed_generation, xid, id) where xid is not null",
  );
}

const ATTEMPTS = 10;
const PAUSE_MS = 500;
/** Readers and writers queue behind anyone who waits for a lock that excludes them. */
const LOCK_WAIT_MS = 1_000;
/** lock_not_available, deadlock_detected: against an instance that makes or drops a partition, for example. */
const LOST = ["55P03", "40P01"];
/** undefined_table, undefined_object */
const GONE = ["42P01", "42704"];

/** Builds an index, or keeps the one that is there. A build that was interrupted leaves an invalid one, which goes first. */
async function build(session: Knex, name: string, table: string, definition: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if (await isInvalid(session, name)) await session.raw("drop index concurrently if exists ??", [name]);
    try {
      await session.raw(`create index concurrently if not exists ?? on ?? ${definition}`, [name, table]);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, LOST)) throw error;
      await delay(PAUSE_MS);
    }
  }
}

/**
 * The same of a table with partitions, whose index PostgreSQL cannot build concurrently: that of each partition by itself,
 * then attached. Partitions that are made meanwhile have theirs at once, by the index of the table.
 */
async function buildOnPartitions(
  session: Knex,
  name: string,
  table: string,
  definition: string,
): Promise<void> {
  await briefly(session, `create index if not exists ?? on only ?? ${definition}`, [name, table]);
  for (;;) {
    const partition = await partitionWithout(session, name, table);
    if (partition === undefined) return;
    const own = name.replace(table, partition);
    try {
      await build(session, own, partition, definition);
      await briefly(session, "alter index ?? attach partition ??", [name, own]);
    } catch (error) {
      // its day is over, and another instance has dropped it
      if (!hasCode(error, GONE)) throw error;
    }
  }
}

/** The default partition comes last: it is never dropped, and with the last one attached the table's index becomes valid. */
async function partitionWithout(session: Knex, index: string, table: string): Promise<string | undefined> {
  const { rows } = await session.raw<{ rows: { name: string }[] }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = :table::regclass and not exists (
       select from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
       where x.indrelid = c.oid and a.inhparent = :index::regclass)
     order by c.relname = :table || '_default', c.relname limit 1`,
    { table, index },
  );
  return rows[0]?.name;
}

async function isInvalid(session: Knex, name: string): Promise<boolean> {
  const { rows } = await session.raw<{ rows: object[] }>(
    `select from pg_index x join pg_class c on c.oid = x.indexrelid
     where c.relname = ? and c.relnamespace = current_schema()::regnamespace and not x.indisvalid`,
    [name],
  );
  return rows.length > 0;
}

/** What excludes readers or writers for a moment does not wait long for those that are at it; it tries again. */
async function briefly(session: Knex, statement: string, bindings: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await session.transaction(async (trx) => {
        await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
        await trx.raw(statement, [...bindings]);
      });
      return;
    } catch (error) {
      if (!hasCode(error, LOST)) throw error;
      await delay(PAUSE_MS);
    }
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
