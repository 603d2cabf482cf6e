import type { Knex } from "knex";

/**
 * Failed sign-ins to the dashboard, counted by who is tried from where, and the browsers that have signed in before.
 * `dashboard_attempts` is what versions before this one count in; a later version drops it.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table dashboard_throttles (
      kind text not null,
      subject_hash text not null,
      account_hash text,
      failures integer not null default 0,
      locked_until timestamptz,
      forget_at timestamptz not null,
      primary key (kind, subject_hash)
    );
    comment on column dashboard_throttles.subject_hash is
      'by what was typed, whether there is such a user or not: an answer must not tell';
    comment on column dashboard_throttles.account_hash is 'of the e-mail address; null where the count is of no one account';
    create index dashboard_throttles_account on dashboard_throttles (account_hash) where account_hash is not null;
    create index dashboard_throttles_age on dashboard_throttles (forget_at);

    create table dashboard_devices (
      token_hash text primary key,
      user_id text not null references dashboard_users (id) on delete cascade,
      created_at timestamptz not null,
      last_used_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index dashboard_devices_user on dashboard_devices (user_id, last_used_at);
    create index dashboard_devices_age on dashboard_devices (expires_at);
  `);
}
