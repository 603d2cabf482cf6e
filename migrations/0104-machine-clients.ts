import type { Knex } from "knex";

/** Programs that ask for tokens of their own (RFC 6749, section 4.4). */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("clients", (table) => {
    table.text("id").primary();
    table.text("name").notNullable();
    table
      .text("customer_id")
      .references("customers.id")
      .onDelete("cascade")
      .index()
      .comment("the one that it acts for; null: none");
    table.specificType("scopes", "text[]").notNullable();
    table.text("secret_hash").notNullable().comment("sha256");
    table.text("hint").notNullable().comment("the last characters of the secret, to tell secrets apart");
    table.text("previous_secret_hash");
    table.timestamp("previous_secret_expires_at");
    table.text("session_id").notNullable().comment("the sid of its tokens: gateways are told when it ends");
    table.jsonb("created_by").notNullable();
    table.timestamp("created_at").notNullable();
    table.timestamp("updated_at").notNullable();
    table.timestamp("last_used_at").comment("to the minute");
    table.timestamp("deleted_at");
    table.integer("revision").notNullable().defaultTo(1);
    table.index(["created_at", "id"]);
  });
}
