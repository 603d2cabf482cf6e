import type { Knex } from "knex";

/**
 * What rules read, for records of gateways with `audit.inputs`. A table of its own, because it is dropped after
 * `retention.inputs`, long before the record. The text is stored as sent: jsonb would change numbers, and cannot hold U+0000.
 */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    create table record_inputs (
      "timestamp" timestamptz not null,
      id text collate "C" not null,
      inputs text not null,
      primary key ("timestamp", id)
    ) partition by range ("timestamp")`);
  await trx.raw(
    "comment on table record_inputs is 'of the decisions in audit_records of the same time and id'",
  );
  await trx.raw("create table record_inputs_default partition of record_inputs default");
}
