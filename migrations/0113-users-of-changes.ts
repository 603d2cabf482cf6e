import type { Knex } from "knex";

/** Whom a change in the audit trail concerns: the session that would tell may be gone. The next migration fills it. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw('alter table audit_records add column about_user text collate "C"');
  await trx.raw(
    "comment on column audit_records.about_user is 'the user whom a change concerns, or whose session; null for all others, and before this column'",
  );
}
