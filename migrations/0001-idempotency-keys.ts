import type { Knex } from "knex";

/** Answers of POST requests that named a key, so that a repetition gets the same one. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("idempotency_keys", (table) => {
    table.text("actor_id").notNullable();
    table.text("key").notNullable();
    table.text("fingerprint").notNullable();
    table.text("answer").comment("sealed; null while the request is under way");
    table.timestamp("created_at").notNullable();
    table.timestamp("expires_at").notNullable().index();
    table.primary(["actor_id", "key"]);
  });
}
