import type { Knex } from "knex";

/** What customers' providers can say of how and when users prove who they are, and what they were asked for. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    alter table customer_idps add column mfa_acr_values text[];
    alter table customer_idps add column capabilities jsonb;
    comment on column customer_idps.mfa_acr_values is 'null: those that are documented for its type';
    comment on column customer_idps.capabilities is 'as the discovery document said when it was verified';
    alter table sign_in_flows add column asked_fresh boolean not null default false;
    comment on column sign_in_flows.asked_fresh is 'the provider was asked to have the user prove who they are again';
  `);
}
