import type { Knex } from "knex";

/** Assignments of one policy to many customers, done a few at a time. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    create table bulk_assignments (
      id text primary key,
      policy_id text not null,
      action text not null check (action in ('assign', 'unassign', 'preview')),
      selection jsonb not null,
      ahead text[] not null default '{}',
      requested_by jsonb not null,
      requested_at timestamptz not null,
      total integer not null,
      done integer not null default 0,
      changed integer not null default 0,
      failures jsonb not null default '[]',
      failed integer not null default 0,
      impact jsonb,
      position text not null default '',
      attempts integer not null default 0,
      next_attempt_at timestamptz,
      ended_at timestamptz,
      outcome text check (outcome in ('finished', 'cancelled', 'failed')),
      problem text
    );
    comment on column bulk_assignments.ahead is
      'customers that were there when it was asked for, and say that they were created later';
    comment on column bulk_assignments.position is 'the id of the last customer that was looked at';
    comment on column bulk_assignments.attempts is 'at the next batch that have failed';
    comment on column bulk_assignments.failures is 'the first of them, by customer';
    comment on column bulk_assignments.problem is 'why it failed as a whole';
    create index bulk_assignments_open on bulk_assignments (requested_at, id) where ended_at is null;
    create index bulk_assignments_by_time on bulk_assignments (requested_at, id);
  `);
}
