import type { Knex } from "knex";

/** Events that one user can cause at will: when a webhook last got one of each kind, and how many it was spared since. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table webhook_repetitions (
      webhook_id text not null,
      key text not null,
      event_id text not null,
      sent_at timestamptz not null,
      suppressed integer not null,
      carried integer not null,
      primary key (webhook_id, key)
    );
    comment on column webhook_repetitions.key is 'a hash of the customer, the user, the reason and the rule';
    comment on column webhook_repetitions.event_id is 'the last one that was sent';
    comment on column webhook_repetitions.suppressed is 'since then';
    comment on column webhook_repetitions.carried is 'before it: what it says';
    create index webhook_repetitions_age on webhook_repetitions (sent_at);
  `);
}
