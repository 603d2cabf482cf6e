import type { Knex } from "knex";

/** Keys that take the place of others, and who used a refresh token first. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.alterTable("api_keys", (table) => {
    table.text("family_id").comment("the first of the keys that were rolled to this one; null: itself");
    table.text("rolled_from").unique().comment("the key whose place this one takes");
    table.text("rolled_to").comment("the key that takes its place; it ends at expires_at");
  });
  await trx.schema.alterTable("refresh_tokens", (table) => {
    table.text("used_by").comment("the application that used it first");
  });
}
