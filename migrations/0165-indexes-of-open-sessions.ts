import { setTimeout as delay } from "node:timers/promises";
import type { Knex } from "knex";

/** Sessions are written to all the time: their indexes are built meanwhile, which PostgreSQL does in no transaction. */
export const config = { transaction: false };

/**
 * What is read of sessions for each suspension, each sign-in and each page of the complete state: the highest number of all
 * (`sessions.seq`), the open sessions of a user, and the ended sessions that gateways must know, by id.
 */
const INDEXES = {
  sessions_by_seq: "sessions (seq)",
  sessions_open_of_user: "sessions (user_id, alive_until, id) where ended_at is null",
  gateway_changes_ended_sessions: "gateway_changes (session_id, until) where type = 'session_ended'",
} as const;

export async function up(session: Knex): Promise<void> {
  for (const [name, definition] of Object.entries(INDEXES)) await build(session, name, definition);
}

const ATTEMPTS = 10;
const PAUSE_MS = 500;
/** lock_not_available, deadlock_detected */
const LOST = ["55P03", "40P01"];

/** Builds an index, or keeps the one that is there. A build that was interrupted leaves an invalid one, which goes first. */
async function build(session: Knex, name: string, definition: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await session.raw<{ rows: object[] }>(
        "select from pg_index where indexrelid = to_regclass(?) and not indisvalid",
        [name],
      );
      if (rows.length > 0) await session.raw("drop index concurrently if exists ??", [name]);
      await session.raw(`create index concurrently if not exists ?? on ${definition}`, [name]);
      return;
    } catch (error) {
      const isLost = error instanceof Error && "code" in error && LOST.includes(String(error.code));
      if (!isLost || attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}
