import type { Knex } from "knex";

/** Tables that may be large are written to while their indexes are built, which PostgreSQL does in no transaction. */
export const config = { transaction: false };

/** Sealed values by the id of the key that they are sealed with, and then by row. */
const SEALED = [
  ["signing_keys", "private_jwk", "kid"],
  ["sandbox_provider_keys", "sealed", "only_row"],
  ["sandbox_provider_state", "payload", "model, id_hash"],
  ["customer_idps", "client_secret", "customer_id"],
  ["webhooks", "secret", "id"],
  ["webhooks", "previous_secret", "id"],
  ["sessions", "id_token", "id"],
  ["sign_in_flows", "secrets", "id"],
  ["idempotency_keys", "fingerprint", "actor_id, key"],
  ["idempotency_keys", "answer", "actor_id, key"],
] as const;

/** What is sealed with another key than it should be is found by these, however many rows there are. */
export async function up(session: Knex): Promise<void> {
  for (const [table, column, key] of SEALED) {
    const name = `${table}_${column}_key`;
    // a build that was interrupted leaves an invalid one
    if (await isInvalid(session, name)) await session.raw("drop index concurrently if exists ??", [name]);
    await session.raw(
      `create index concurrently if not exists ?? on ?? (split_part(??, '.', 3), ${key}) where ?? is not null`,
      [name, table, column, column],
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
