import type { Knex } from "knex";

/** Requests to the API that were refused for want of a right are records as well. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw("alter table audit_records drop constraint audit_records_kind_check");
  // rows that are there have one of the old kinds, so they need not be read
  await trx.raw(`
    alter table audit_records add constraint audit_records_kind_check
      check (kind in ('decision', 'response', 'connection', 'change', 'shadow', 'rollout', 'refused_call')) not valid`);
}
