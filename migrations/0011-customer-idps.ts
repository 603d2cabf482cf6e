import type { Knex } from "knex";

/** The identity provider of each customer. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("customer_idps", (table) => {
    table.text("customer_id").primary().references("customers.id");
    table.text("type").notNullable();
    table.text("domain").notNullable();
    table.text("issuer").notNullable();
    table.text("tenant");
    table.text("realm");
    table.text("client_id").notNullable();
    table.text("client_secret").notNullable().comment("sealed");
    table.specificType("scopes", "text[]").notNullable();
    table.jsonb("claims").notNullable();
    table.timestamp("verified_at");
    table.integer("revision").notNullable();
    table.timestamp("created_at").notNullable();
    table.timestamp("updated_at").notNullable();
  });
}
