import type { Knex } from "knex";

/** People who sign in to the dashboard: who they are, how they come in, and where they are signed in. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("dashboard_users", (table) => {
    table.text("id").primary();
    table.text("email").notNullable().unique().comment("in lower case");
    table.text("name").notNullable();
    table.text("role").notNullable();
    table.text("password_hash").comment("argon2id; null until the invitation is accepted");
    table.timestamp("created_at").notNullable();
    table.timestamp("updated_at").notNullable();
    table.timestamp("last_sign_in_at");
    table.integer("revision").notNullable().defaultTo(1);
    table.index(["created_at", "id"]);
  });

  await trx.schema.createTable("dashboard_links", (table) => {
    table.text("token_hash").primary();
    table.text("user_id").unique().references("dashboard_users.id").onDelete("cascade");
    table.timestamp("created_at").notNullable();
    table.timestamp("expires_at").notNullable();
  });
  // the link that makes the first owner is nobody's, and there is one at most
  await trx.raw(
    "create unique index dashboard_links_setup on dashboard_links ((true)) where user_id is null",
  );

  await trx.schema.createTable("dashboard_sessions", (table) => {
    table.text("id").primary();
    table.text("token_hash").notNullable().unique();
    table.text("user_id").notNullable().references("dashboard_users.id").onDelete("cascade").index();
    table.timestamp("created_at").notNullable();
    table.timestamp("last_seen_at").notNullable().comment("to the minute");
    table.timestamp("expires_at").notNullable().index();
    table.text("ip_address").notNullable();
    table.text("user_agent").notNullable();
  });

  // by what was typed, whether there is such a user or not: an answer must not tell
  await trx.schema.createTable("dashboard_attempts", (table) => {
    table.text("email_hash").primary();
    table.integer("failures").notNullable();
    table.timestamp("locked_until");
    table.timestamp("forget_at").notNullable().index();
  });
}
