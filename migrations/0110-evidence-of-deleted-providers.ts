import type { Knex } from "knex";

/** What counted as multi-factor authentication at the provider that a customer had last, for the next one. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    alter table customers add column last_mfa_acr_values text[];
    comment on column customers.last_mfa_acr_values is
      'values of acr that counted when the identity provider was deleted; null: none was since this column is there';
  `);
}
