import type { Knex } from "knex";

/** The directory of users: who has signed in at a customer's identity provider, and what is known of them. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table users (
      id text primary key,
      customer_id text not null references customers (id),
      issuer text,
      subject text not null,
      email text,
      name text,
      status text not null check (status in ('active', 'suspended')),
      profile jsonb not null,
      attributes jsonb not null,
      role text generated always as (coalesce(attributes ->> 'role', profile ->> 'role')) stored,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      last_sign_in_at timestamptz,
      deleted_at timestamptz,
      revision integer not null default 1
    );
    comment on column users.subject is 'who it is to the identity provider: its \`sub\`';
    comment on column users.issuer is 'the provider, for a \`sub\` is unique only there; null until the first sign-in';
    comment on column users.profile is 'from the provider, replaced at each sign-in';
    comment on column users.attributes is 'set by administrators; they win over the profile';
    create unique index users_subject on users (customer_id, subject, coalesce(issuer, '')) where deleted_at is null;
    create index users_of_customer on users (customer_id, created_at, id) where deleted_at is null;
    create index users_email on users (lower(email), customer_id) where deleted_at is null;
    create index users_by_email on users (email, id) where deleted_at is null;
    create index users_by_created_at on users (created_at, id) where deleted_at is null;
    create index users_by_updated_at on users (updated_at, id) where deleted_at is null;
    create index users_by_last_sign_in on users (last_sign_in_at, id) where deleted_at is null;
    create index users_suspended on users (id) where deleted_at is null and status = 'suspended';
    create index users_deleted on users (deleted_at) where deleted_at is not null;
  `);
}
