import type { Knex } from "knex";

/** How old a delivery is that was sent again: its chain ends with the first. The next migration builds the index. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw("alter table webhook_deliveries add column first_created_at timestamptz");
  await trx.raw(
    "comment on column webhook_deliveries.first_created_at is 'if it is sent again: when it was made that was sent first'",
  );
}
