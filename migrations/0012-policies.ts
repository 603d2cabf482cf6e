import type { Knex } from "knex";

/** Policies, and which customers they hold for. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("policies", (table) => {
    table.text("id").primary();
    table.text("name").notNullable();
    table
      .specificType("name_key", 'text collate "C"')
      .notNullable()
      .comment("folded: sorted and searched by");
    table.text("description").notNullable();
    table.text("type").notNullable().checkIn(["authentication", "authorization"], "policies_type");
    table.text("status").notNullable().checkIn(["active", "inactive"], "policies_status");
    table.jsonb("conditions").notNullable();
    table.integer("revision").notNullable().defaultTo(1);
    table.timestamp("created_at").notNullable();
    table.timestamp("updated_at").notNullable();
    for (const column of ["created_at", "updated_at", "name_key"]) table.index([column, "id"]);
  });
  await trx.schema.createTable("policy_assignments", (table) => {
    table.text("customer_id").notNullable().references("customers.id");
    table.text("policy_id").notNullable().references("policies.id");
    table.timestamp("assigned_at").notNullable();
    table.primary(["customer_id", "policy_id"]);
    table.index(["policy_id", "assigned_at", "customer_id"]);
  });
}
