import type { Knex } from "knex";

/**
 * Where records of the audit trail come from; which users, customers and dashboard users are being erased; and the ids of
 * customers whose rows are gone for good, which gateways go on refusing. The indexes of large tables are built by the next.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    alter table audit_records
      add column ingested_by text collate "C",
      add column gateway text collate "C",
      add column received_at timestamptz;
    comment on column audit_records.ingested_by is 'the API key that sent it; null for changes, and before this column';
    comment on column audit_records.gateway is 'what the gateway calls itself';

    alter table users add column erased_at timestamptz;
    comment on column users.erased_at is 'since then nothing in the row says who it was';

    create table erasures (
      id text primary key,
      kind text not null check (kind in ('user', 'customer', 'dashboard_user')),
      customer_id text,
      requested_at timestamptz not null,
      finished_at timestamptz,
      step text not null,
      position jsonb,
      subject text,
      barrier bigint,
      users bigint not null default 0,
      sessions bigint not null default 0,
      events bigint not null default 0,
      records bigint not null default 0,
      failures integer not null default 0,
      failure text,
      next_attempt_at timestamptz
    );
    comment on column erasures.id is 'of the user, customer or dashboard user that was deleted';
    comment on column erasures.position is 'how far the step has come: the key of the last row';
    comment on column erasures.subject is
      'who a user is to the identity provider; null as soon as nothing has to be found by it any more';
    comment on column erasures.barrier is
      'transactions with a lower id may have begun before the deletion: it is waited until they have ended';
    comment on column erasures.failures is 'attempts at the step that have failed since one has worked';
    comment on column erasures.failure is 'what the last of them failed with, in words that name no data';
    create index erasures_open on erasures (requested_at, id) where finished_at is null;
    create index erasures_by_time on erasures (requested_at, id);

    create table deleted_customers (
      id text primary key,
      deleted_at timestamptz not null
    );
    comment on table deleted_customers is 'whose rows are gone; an id is never given again';
  `);
}
