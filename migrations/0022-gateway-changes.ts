import type { Knex } from "knex";

/** What gateways have to learn, in the order in which it was committed. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table gateway_changes (
      seq bigint generated always as identity primary key,
      tag text not null,
      type text not null,
      session_id text,
      until timestamptz,
      customer_id text,
      user_id text,
      policy_set text,
      appended_at timestamptz not null default clock_timestamp()
    );
    comment on column gateway_changes.tag is 'random: tells a row from one that had its number before a restore';
    create index gateway_changes_sessions on gateway_changes (until) where type = 'session_ended';
    create index gateway_changes_by_time on gateway_changes (appended_at);
    create table gateway_feed (
      only_row boolean primary key default true check (only_row),
      tag text not null default gen_random_uuid()::text,
      pruned_through bigint not null default 0
    );
    comment on column gateway_feed.tag is 'stands for the beginning, before there is any change';
    insert into gateway_feed default values;
  `);
}
