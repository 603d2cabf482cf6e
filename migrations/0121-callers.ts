import type { Knex } from "knex";

/** Keys by which gateways identify callers have permissions of their own. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.schema.alterTable("api_keys", (table) => {
    table.jsonb("permissions").notNullable().defaultTo("[]");
  });
}
