import type { Knex } from "knex";

/** Erases from the audit trail who one of the sandbox's people was, whom the same transaction deletes. */
export async function erasePersonChanges(trx: Knex.Transaction, id: string): Promise<void> {
  await trx("audit_records")
    .where({ kind: "change", resource: `sandbox_person/${id}` })
    .update({ record: trx.raw("record - '{before,after}'::text[]") });
}
