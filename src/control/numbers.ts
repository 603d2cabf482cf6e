import type { Knex } from "knex";

/** Bringing a sequence forward waits for no longer than this for transactions that have used it; later ones queue behind it. */
const LOCK_WAIT_MS = 1_000;

/** What orders rows by a number from a sequence. */
interface Numbered {
  readonly sequence: string;
  /** SQL: the highest number that a row has; NULL if there is none. */
  readonly used: string;
  /** There is an index by the number, so it may be asked for every minute. Otherwise it is when another one is behind. */
  readonly isIndexed: boolean;
  /** In the transaction that brings it forward. */
  readonly then?: (trx: Knex.Transaction) => Promise<unknown>;
}

const NUMBERED: readonly Numbered[] = [
  {
    // a suspension ends the sessions before its own number (decision 0097)
    sequence: "sessions_seq",
    used: "greatest((select max(seq) from sessions), (select max(before_seq) from session_endings))",
    isIndexed: true,
  },
  {
    // those of one customer are carried out one after the other
    ...identity("session_endings", "id"),
    isIndexed: true,
  },
  {
    // gateways ask for what came after the last one that they have
    ...identity("gateway_changes", "seq"),
    isIndexed: true,
    then: forgetPlaces,
  },
  {
    // a webhook that is enabled again begins after the last one
    ...identity("webhook_deliveries", "sequence"),
    isIndexed: false,
  },
];

function identity(table: string, column: string): Pick<Numbered, "sequence" | "used"> {
  return { sequence: `${table}_${column}_seq`, used: `(select max(${column}) from ${table})` };
}

/**
 * Rows are numbered by sequences. Logical replication moves the rows to another server, but not the sequences: there, they are behind the
 * rows that exist, and what is new would come before what is old. They are brought forward here.
 *
 * @returns whether one was behind
 */
export async function bringNumbersForward(db: Knex): Promise<boolean> {
  const isOne = await Promise.all(NUMBERED.map(async (one) => one.isIndexed && (await isBehind(db, one))));
  if (!isOne.includes(true)) return false;
  return db.transaction(async (trx) => {
    await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
    let found = false;
    for (const one of NUMBERED) {
      // waits for transactions that have taken a number, and keeps others from it until the commit
      await trx.raw(`alter sequence ${one.sequence} cache 1`);
      if (!(await isBehind(trx, one))) continue;
      found = true;
      await trx.raw(`select setval('${one.sequence}', ${one.used})`);
      await one.then?.(trx);
    }
    return found;
  });
}

async function isBehind(db: Knex, { sequence, used }: Numbered): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { behind: boolean }[] }>(
    `select last_value - (not is_called)::int < coalesce(${used}, 0) as behind from ${sequence}`,
  );
  return rows[0]?.behind === true;
}

/**
 * Gateways that are at the last place have not heard of what got a lower number meanwhile, and nobody knows which others have not: all
 * of them get the complete state.
 */
async function forgetPlaces(trx: Knex.Transaction): Promise<void> {
  const newest = "(select max(seq) from gateway_changes)";
  await trx.raw(`update gateway_changes set tag = gen_random_uuid()::text where seq = ${newest}`);
  await trx.raw(`update gateway_feed set pruned_through = greatest(pruned_through, ${newest} - 1)`);
}
