import type { Knex } from "knex";
import { CHANNEL } from "./platform/gateway-signal.ts";

/** Bringing a sequence forward waits for no longer than this for transactions that have used it; later ones queue behind it. */
const LOCK_WAIT_MS = 1_000;

/** What orders rows by a number from a sequence. */
interface Numbered {
  readonly sequence: string;
  /** SQL: the highest number in use; NULL if there is none. It is asked for every minute, so it needs an index. */
  readonly used: string;
  /**
   * In the transaction that brings it forward, afterwards.
   *
   * @param last - the number up to which others were given meanwhile
   */
  readonly then?: (trx: Knex.Transaction, last: string) => Promise<unknown>;
}

const NUMBERED: readonly Numbered[] = [
  {
    // gateways ask for what came after the last one that they have
    ...identity("gateway_changes", "seq"),
    then: forgetPlaces,
  },
  {
    // those of one customer are carried out one after the other
    ...identity("session_endings", "id"),
  },
  {
    // a suspension ends the sessions before its own number (decision 0097)
    sequence: "sessions_seq",
    used: "greatest((select max(seq) from sessions), (select max(before_seq) from session_endings))",
  },
  {
    // a webhook that is enabled again begins after the last one of then, of which no row may be left
    sequence: "webhook_deliveries_sequence_seq",
    used: "greatest((select max(sequence) from webhook_deliveries), (select max(deliver_after) from webhooks))",
    then: numberAgain,
  },
];

function identity(table: string, column: string): Pick<Numbered, "sequence" | "used"> {
  return { sequence: `${table}_${column}_seq`, used: `(select max(${column}) from ${table})` };
}

/**
 * Rows are numbered by sequences. Logical replication moves the rows to another server, but not the sequences: there, they are behind the
 * rows that exist, and what is new would come before what is old. They are brought forward here, each in a transaction of its own:
 * with two sequences locked in one transaction, it could deadlock with a unit of work that uses them in the other order.
 *
 * @param onForward - hears of each sequence as soon as it is brought forward, also if another one fails
 * @returns whether one was behind
 * @throws what the first failed with, when the others have been brought forward
 */
export async function bringNumbersForward(
  db: Knex,
  onForward: (sequence: string) => void = () => undefined,
): Promise<boolean> {
  let found = false;
  const failures: unknown[] = [];
  for (const one of NUMBERED)
    try {
      if ((await behind(db, one)) !== undefined && (await bringForward(db, one))) {
        found = true;
        onForward(one.sequence);
      }
    } catch (error) {
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0];
  return found;
}

function bringForward(db: Knex, one: Numbered): Promise<boolean> {
  return db.transaction(async (trx) => {
    await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
    // waits for transactions that have taken a number, and keeps others from it until the commit
    await trx.raw(`alter sequence ${one.sequence} cache 1`);
    const last = await behind(trx, one);
    if (last === undefined) return false;
    await trx.raw(`select setval('${one.sequence}', ${one.used})`);
    await one.then?.(trx, last);
    return true;
  });
}

/** @returns the last number of a sequence that is behind; `undefined` if it is not */
async function behind(db: Knex, { sequence, used }: Numbered): Promise<string | undefined> {
  const { rows } = await db.raw<{ rows: { last: string }[] }>(
    `select last::text from (select last_value - (not is_called)::int as last from ${sequence}) given
     where last < coalesce(${used}, 0)`,
  );
  return rows[0]?.last;
}

/**
 * Gateways that are at the last place have not heard of what got a lower number meanwhile, and nobody knows which others have not: all
 * of them get the complete state, at once.
 */
async function forgetPlaces(trx: Knex.Transaction): Promise<void> {
  const newest = "(select max(seq) from gateway_changes)";
  await trx.raw(`update gateway_changes set tag = gen_random_uuid()::text where seq = ${newest}`);
  await trx.raw(`update gateway_feed set pruned_through = greatest(pruned_through, ${newest} - 1)`);
  await trx.raw("select pg_notify(?, '')", [CHANNEL]);
}

/** Deliveries that got a low number meanwhile may look as if their webhook had been enabled after them. */
async function numberAgain(trx: Knex.Transaction, last: string): Promise<void> {
  await trx.raw(
    `update webhook_deliveries set sequence = default
     where status in ('pending', 'delivering') and sequence <= ?`,
    [last],
  );
}
