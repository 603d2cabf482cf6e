import type { Knex } from "knex";

/** Receivers of events, and what is sent to them: the outbox, which is the log of deliveries as well. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table webhooks (
      id text primary key,
      customer_id text references customers (id),
      url text not null,
      description text,
      events text[] not null,
      enabled boolean not null,
      disabled_reason text,
      disabled_at timestamptz,
      secret text not null,
      previous_secret text,
      previous_secret_expires_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      revision integer not null default 1,
      deliver_after bigint not null default 0,
      check (enabled = (disabled_reason is null) and enabled = (disabled_at is null))
    );
    comment on column webhooks.customer_id is 'null: events of all customers, and of the environment';
    comment on column webhooks.secret is 'sealed';
    comment on column webhooks.previous_secret is 'sealed; signs beside the new one until it expires';
    comment on column webhooks.deliver_after is
      'sequence of a delivery: what was left over when the webhook was last enabled is not sent';
    create index webhooks_customer on webhooks (customer_id, created_at);
    create index webhooks_created on webhooks (created_at, id);

    create table webhook_deliveries (
      id text primary key,
      sequence bigint generated always as identity,
      webhook_id text not null,
      event_id text not null,
      event_type text not null,
      payload text not null,
      retried boolean not null,
      status text not null check (status in ('pending', 'delivering', 'delivered', 'failed', 'cancelled')),
      attempts integer not null default 0,
      next_attempt_at timestamptz,
      last_attempt_at timestamptz,
      finished_at timestamptz,
      response_status integer,
      response_body text,
      duration_ms integer,
      error text,
      created_at timestamptz not null,
      check ((next_attempt_at is null) = (status not in ('pending', 'delivering')))
    );
    comment on column webhook_deliveries.webhook_id is
      'no foreign key: its lock would make changes of a webhook wait for every transaction with an event';
    comment on column webhook_deliveries.payload is 'the bytes of the body, which are signed';
    comment on column webhook_deliveries.attempts is 'grows with each claim, and so tells whose claim it is';
    comment on column webhook_deliveries.next_attempt_at is 'while delivering: when the claim is over';
    create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, sequence)
      where status in ('pending', 'delivering');
    create index webhook_deliveries_under_way on webhook_deliveries (webhook_id) where status = 'delivering';
    create index webhook_deliveries_log on webhook_deliveries (webhook_id, created_at, id);
    create index webhook_deliveries_successes on webhook_deliveries (webhook_id, finished_at)
      where status = 'delivered';
    create index webhook_deliveries_age on webhook_deliveries (created_at);
  `);
}
