import type { Knex } from "knex";

/** Of the sandbox alone, empty in production: people to sign in as, and what the provider they sign in at keeps. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table sandbox_people (
      id text primary key,
      customer_id text references customers (id),
      email text not null,
      name text not null,
      role text,
      department text,
      permissions jsonb not null,
      attributes jsonb not null,
      amr jsonb not null,
      created_at timestamptz not null
    );
    comment on column sandbox_people.customer_id is 'null: they can sign in at every customer';
    create unique index sandbox_people_email on sandbox_people (email, coalesce(customer_id, ''));
    create index sandbox_people_of_customer on sandbox_people (customer_id, name, id);
    create index sandbox_people_by_time on sandbox_people (created_at, id);
    create table sandbox_provider_keys (
      only_row boolean primary key default true check (only_row),
      sealed text not null,
      created_at timestamptz not null
    );
    create table sandbox_provider_state (
      model text not null,
      id_hash text not null,
      payload text not null,
      grant_id text,
      uid text,
      consumed_at timestamptz,
      expires_at timestamptz,
      primary key (model, id_hash)
    );
    comment on column sandbox_provider_state.payload is 'sealed: it holds codes, tokens and cookies';
    create index sandbox_provider_state_grant on sandbox_provider_state (grant_id) where grant_id is not null;
    create index sandbox_provider_state_uid on sandbox_provider_state (uid) where uid is not null;
    create index sandbox_provider_state_expiry on sandbox_provider_state (expires_at);
  `);
}
