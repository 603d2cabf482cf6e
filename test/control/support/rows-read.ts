import type { Knex } from "knex";

const COUNTERS = {
  /** Rows of a table, and entries of its indexes that fit. */
  rows: `select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)) as total
    from (select :name::regclass as oid
          union all select indexrelid from pg_index where indrelid = :name::regclass) as relations`,
  /** Pages of a table or an index: also of entries that do not fit. */
  pages: "select pg_stat_get_xact_blocks_fetched(:name::regclass) as total",
};

/**
 * Does something in a transaction.
 *
 * @param name - of the table or index
 * @returns its result, and how many rows or pages were read for it
 */
export async function countingReads<T>(
  trx: Knex.Transaction,
  [what, name]: readonly [keyof typeof COUNTERS, string],
  work: () => Promise<T>,
): Promise<readonly [result: T, reads: number]> {
  // of this connection, since its statistics were last sent to the others
  const counted = async () => {
    const { rows } = await trx.raw<{ rows: { total: string }[] }>(COUNTERS[what], { name });
    return Number(rows[0]?.total);
  };
  const before = await counted();
  const result = await work();
  return [result, (await counted()) - before];
}
