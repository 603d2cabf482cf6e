import type { Knex } from "knex";

/** What the key of a window says. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    comment on column webhook_windows.key is
      'a hash of the customer, the user, the reason and the rule; "others " and the customer: all its other kinds'
  `);
}
