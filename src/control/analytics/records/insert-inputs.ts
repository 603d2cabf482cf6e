import type { Knex } from "knex";
import type { RecordFacts } from "./read-record.ts";

/**
 * Stores what the rules read, of records that were stored just now.
 *
 * @param since - start of the retention of inputs, Unix ms: those of earlier records are not stored
 */
export async function insertInputs(
  trx: Knex.Transaction,
  records: readonly RecordFacts[],
  since: number,
): Promise<void> {
  const rows = records.flatMap(({ row: { timestamp, id }, inputs }) =>
    inputs === undefined || timestamp < since ? [] : [{ at: new Date(timestamp), id, inputs }],
  );
  if (rows.length === 0) return;
  await trx.raw(
    `insert into record_inputs ("timestamp", id, inputs)
     select * from unnest(?::timestamptz[], ?::text[], ?::text[]) on conflict do nothing`,
    [rows.map(({ at }) => at), rows.map(({ id }) => id), rows.map(({ inputs }) => inputs)],
  );
}
