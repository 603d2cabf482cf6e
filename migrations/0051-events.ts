import type { Knex } from "knex";

/** The history of events; one table a day, like the audit trail. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table events (
      "timestamp" timestamptz not null,
      id text collate "C" not null,
      type text collate "C" not null,
      customer_id text collate "C",
      user_id text collate "C",
      data jsonb not null,
      primary key ("timestamp", id)
    ) partition by range ("timestamp")`);
  await trx.raw(`create index events_type on events (type, "timestamp", id)`);
  await trx.raw(
    `create index events_customer on events (customer_id, "timestamp", id) where customer_id is not null`,
  );
  await trx.raw(`create index events_user on events (user_id, "timestamp", id) where user_id is not null`);
  await trx.raw("create table events_default partition of events default");
}
