import type { Knex } from "knex";

/** Bringing the sequence forward waits for no longer than this for sign-ins under way; later ones queue behind it. */
const LOCK_WAIT_MS = 1_000;

/** SQL: the number that the sequence has given out last, and the highest that a row has. */
const NUMBERS = `select last_value - (not is_called)::int as given, greatest(
    coalesce((select max(seq) from sessions), 0), coalesce((select max(before_seq) from session_endings), 0)) as used
  from sessions_seq`;

/**
 * Sessions are numbered in the order in which they were opened, and a suspension ends those before its own number (decision 0097).
 * Logical replication moves the rows to another server, but not the sequence: there, it is behind the sessions that exist, and new ones
 * would count as older than suspensions before them. It is brought forward here.
 *
 * @returns whether it was behind
 */
export async function bringNumbersForward(db: Knex): Promise<boolean> {
  if (!(await isBehind(db))) return false;
  return db.transaction(async (trx) => {
    await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
    // waits for transactions that have taken a number, and keeps others from it until the commit
    await trx.raw("alter sequence sessions_seq cache 1");
    if (!(await isBehind(trx))) return false;
    await trx.raw(`select setval('sessions_seq', used) from (${NUMBERS}) as numbers`);
    return true;
  });
}

async function isBehind(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { behind: boolean }[] }>(
    `select given < used as behind from (${NUMBERS}) as numbers`,
  );
  return rows[0]?.behind === true;
}
