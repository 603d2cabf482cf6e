import { setTimeout as delay } from "node:timers/promises";
import type { Knex } from "knex";

/** Sessions are written to all the time: nobody waits long for the lock that adds a column. */
export const config = { transaction: false };

/**
 * Customers whose sessions are to end, a few at a time; and the order in which sessions were opened, which says which of them those
 * are. Sessions from before have no number, and come before all others. An earlier release that runs beside this one does not name
 * the column, and gets the default.
 */
export async function up(session: Knex): Promise<void> {
  await session.raw(`
    create sequence if not exists sessions_seq;
    create table if not exists session_endings (
      id bigint generated always as identity primary key,
      customer_id text not null references customers (id) on delete cascade,
      before_seq bigint not null,
      reason text not null,
      requested_at timestamptz not null,
      position jsonb,
      ended bigint not null default 0,
      failures integer not null default 0,
      next_attempt_at timestamptz
    );
    create index if not exists session_endings_customer on session_endings (customer_id);
    comment on column session_endings.before_seq is 'sessions with a lower number end; those that are opened later do not';
    comment on column session_endings.position is 'the key of the last session that was looked at';
    comment on column session_endings.ended is 'sessions that have ended so far';
  `);
  await briefly(session, "alter table sessions add column if not exists seq bigint");
  await session.raw("alter sequence sessions_seq owned by sessions.seq");
  await buildIndex(session);
  await briefly(session, "alter table sessions alter column seq set default nextval('sessions_seq')");
}

const INDEX = "sessions_open_of_customer";

/** Of open sessions only: those that ended are kept for months. A build that was interrupted leaves an invalid index. */
async function buildIndex(session: Knex): Promise<void> {
  const { rows } = await session.raw<{ rows: object[] }>(
    "select from pg_index where indexrelid = to_regclass(?) and not indisvalid",
    [INDEX],
  );
  if (rows.length > 0) await session.raw("drop index concurrently if exists ??", [INDEX]);
  await session.raw(
    "create index concurrently if not exists ?? on sessions (customer_id, alive_until, id) where ended_at is null",
    [INDEX],
  );
}

const PAUSE_MS = 500;
/** Readers and writers queue behind anyone who waits for a lock that excludes them. */
const LOCK_WAIT_MS = 1_000;
/** lock_not_available, deadlock_detected */
const LOST = ["55P03", "40P01"];

/** What excludes readers or writers for a moment does not wait long for those that are at it; it tries again. */
async function briefly(session: Knex, statement: string): Promise<void> {
  for (;;) {
    try {
      await session.transaction(async (trx) => {
        await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
        await trx.raw(statement);
      });
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && LOST.includes(String(error.code)))) throw error;
      await delay(PAUSE_MS);
    }
  }
}
