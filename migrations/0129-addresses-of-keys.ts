import type { Knex } from "knex";

/** From where API keys may be used. An earlier release that runs beside this one does not look at it. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    alter table api_keys add column allowed_addresses text[] not null default '{}';
    comment on column api_keys.allowed_addresses is 'addresses and networks; empty: everywhere';
  `);
}
