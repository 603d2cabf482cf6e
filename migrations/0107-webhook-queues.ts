import type { Knex } from "knex";

/**
 * Deliveries have a rank and a reason for their cancellation, receivers that do not answer are left alone for a while,
 * violations are counted by windows, and webhooks of deleted customers are disabled.
 *
 * No longer used, and left for processes of the version before: the table `webhook_repetitions` and the index
 * `webhook_deliveries_due`.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    alter table webhooks
      add column failures integer not null default 0,
      add column paused_until timestamptz;
    comment on column webhooks.failures is 'attempts without an answer since the last one with an answer';
    comment on column webhooks.paused_until is 'nothing is sent before; then one delivery tries';

    alter table webhook_deliveries
      add column priority smallint not null default 1,
      add column cancelled_reason text;
    comment on column webhook_deliveries.priority is '0: asked for by somebody; 1: events; 2: violations, which can be many';
    update webhook_deliveries set priority = 2 where status = 'pending' and event_type = 'policy.violated';
    create index webhook_deliveries_queue on webhook_deliveries (webhook_id, priority, next_attempt_at, sequence)
      where status in ('pending', 'delivering');
    alter table webhook_deliveries
      set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

    create table webhook_windows (
      webhook_id text not null,
      key text not null,
      event_id text,
      closes_at timestamptz not null,
      count integer not null,
      first_at timestamptz not null,
      last_at timestamptz not null,
      last_event jsonb not null,
      primary key (webhook_id, key)
    );
    comment on table webhook_windows is 'violations of a kind that a webhook is told of together, when the window closes';
    comment on column webhook_windows.key is 'a hash of the customer, the user, the reason and the rule; empty: all other kinds';
    comment on column webhook_windows.event_id is 'the one that was sent at once';
    comment on column webhook_windows.count is 'those after it; the columns that follow are theirs';
    create index webhook_windows_due on webhook_windows (closes_at);

    update webhook_deliveries d
      set status = 'cancelled', next_attempt_at = null, finished_at = now(), cancelled_reason = 'customer_deleted'
      from webhooks w join customers c on c.id = w.customer_id
      where d.webhook_id = w.id and d.status = 'pending' and c.deleted_at is not null;
    update webhooks w
      set enabled = false, disabled_reason = 'customer_deleted', disabled_at = now(), updated_at = now(),
          revision = w.revision + 1
      from customers c
      where c.id = w.customer_id and c.deleted_at is not null and w.enabled;
  `);
}
