import type { Knex } from "knex";

/** What programs sign their requests with. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("api_keys", (table) => {
    table.text("id").primary();
    table.text("secret_hash").notNullable().unique().comment("sha256 of the whole key");
    table.text("hint").notNullable().comment("its last characters, to tell keys apart");
    table.text("name").notNullable();
    table.text("scope").notNullable();
    table.text("customer_id").references("customers.id").index().comment("the one that it is limited to");
    table.jsonb("created_by").notNullable();
    table.timestamp("created_at").notNullable();
    table.timestamp("updated_at").notNullable();
    table.timestamp("expires_at");
    table.timestamp("last_used_at").comment("to the minute");
    table.timestamp("revoked_at");
    table.integer("revision").notNullable().defaultTo(1);
    table.index(["created_at", "id"]);
  });
}
