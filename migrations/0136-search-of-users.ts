import type { Knex } from "knex";

/** Tables that may be large are written to while their indexes are built, which PostgreSQL does in no transaction. */
export const config = { transaction: false };

/** What users are searched by. */
const INDEXES = {
  users_by_name: "(lower(name) text_pattern_ops, id)",
  users_by_subject: "(subject, id)",
};

export async function up(session: Knex): Promise<void> {
  for (const [name, columns] of Object.entries(INDEXES)) {
    // a build that was interrupted leaves an invalid one
    if (await isInvalid(session, name)) await session.raw("drop index concurrently if exists ??", [name]);
    await session.raw(
      `create index concurrently if not exists ?? on users ${columns} where deleted_at is null`,
      [name],
    );
  }
}

async function isInvalid(session: Knex, name: string): Promise<boolean> {
  const { rows } = await session.raw<{ rows: object[] }>(
    `select from pg_index x join pg_class c on c.oid = x.indexrelid
     where c.relname = ? and c.relnamespace = current_schema()::regnamespace and not x.indisvalid`,
    [name],
  );
  return rows.length > 0;
}
