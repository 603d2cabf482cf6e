import type { Knex } from "knex";

/** Differences that a candidate would make, and changes of rollouts at gateways, are records as well. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw("alter table audit_records drop constraint audit_records_kind_check");
  // rows that are there have one of the old kinds, so they need not be read
  await trx.raw(`
    alter table audit_records add constraint audit_records_kind_check
      check (kind in ('decision', 'response', 'connection', 'change', 'shadow', 'rollout')) not valid`);
}
