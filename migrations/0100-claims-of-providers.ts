import type { Knex } from "knex";

/** What a customer's identity provider may say of its users, by the operator's word; and what it did say. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    alter table customers
      add column allowed_roles text[],
      add column allowed_permissions text[],
      add column allowed_groups text[],
      add column allowed_claims text[],
      add column role_mapping jsonb not null default '{}';
    comment on column customers.allowed_roles is 'null: never set; {*}: any';
    comment on column customers.allowed_claims is 'names of further attributes';
    comment on column customers.role_mapping is 'a group of the provider to roles';
    alter table users
      add column claimed jsonb,
      add column claimed_at timestamptz;
    comment on column users.claimed is 'all that the provider said; null: the profile holds it';
    comment on column users.claimed_at is
      'the sign-in that claimed is of; it counts for no other: programs before this column write the profile alone';
    comment on column users.profile is 'of that, what was permitted at the last sign-in';
  `);
}
