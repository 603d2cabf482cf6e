import type { Knex } from "knex";

/**
 * The audit trail: decisions and outcomes of gateways, and changes of the control plane. One table a day; what belongs to
 * no day that has one is in the default table.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table audit_records (
      "timestamp" timestamptz not null,
      kind text collate "C" not null check (kind in ('decision', 'response', 'connection', 'change')),
      id text collate "C" not null,
      request_id text collate "C" not null,
      customer_id text collate "C",
      user_id text collate "C" not null,
      decision text collate "C" check (decision in ('ALLOW', 'DENY')),
      reason text collate "C",
      resource text collate "C" not null,
      action text collate "C" not null,
      rule text collate "C",
      policy_set text collate "C",
      client_ip text collate "C",
      evaluation_time_us bigint,
      record jsonb not null,
      primary key ("timestamp", id, kind)
    ) partition by range ("timestamp")`);
  await trx.raw("comment on column audit_records.user_id is 'who acted; empty when nobody was identified'");
  await trx.raw("comment on column audit_records.record is 'the members that have no column'");
  await trx.raw("create index audit_records_id on audit_records (id)");
  await trx.raw(
    `create index audit_records_customer on audit_records (customer_id, "timestamp", id) where customer_id is not null`,
  );
  await trx.raw(
    `create index audit_records_user on audit_records (user_id, "timestamp", id) where user_id <> ''`,
  );
  await trx.raw("create index audit_records_request on audit_records (request_id) where request_id <> ''");
  await trx.raw(
    `create index audit_records_denied on audit_records ("timestamp", id) where decision = 'DENY'`,
  );
  await trx.raw(
    `create index audit_records_kind on audit_records (kind, "timestamp", id) where kind <> 'decision'`,
  );
  await trx.raw("create table audit_records_default partition of audit_records default");
}
