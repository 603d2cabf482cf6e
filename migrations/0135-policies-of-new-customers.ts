import type { Knex } from "knex";

/** Policies that new customers get. An earlier release that runs beside this one creates customers without them. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    alter table policies add column assign_to_new_customers boolean not null default false;
    create index policies_of_new_customers on policies (id) where assign_to_new_customers;
  `);
}
