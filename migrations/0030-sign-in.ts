import type { Knex } from "knex";

/** Sign-ins under way, sessions, what clients hold of them, and the keys that sign tokens. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("sign_in_flows", (table) => {
    table.text("id").primary();
    table.text("state_hash").notNullable().unique();
    table.text("customer_id").notNullable().references("customers.id");
    table.text("client_id").notNullable().comment("who started it: an API key, or a dashboard user");
    table.text("return_url").notNullable();
    table.text("issuer").notNullable();
    table.text("idp_client_id").notNullable();
    table.text("secrets").notNullable().comment("sealed: the code verifier and the nonce");
    table.text("scope").notNullable();
    table.integer("max_age");
    table.timestamp("created_at").notNullable();
    table.timestamp("expires_at").notNullable().index();
    table.timestamp("used_at");
  });

  await trx.schema.createTable("sessions", (table) => {
    table.text("id").primary();
    table.text("customer_id").notNullable().references("customers.id");
    table.text("user_id").notNullable().references("users.id");
    table.text("client_id").notNullable().comment("who may exchange its code and refresh its tokens");
    table.text("end_session_url").comment("where the provider ends its own session; null: nowhere");
    table.text("id_token").comment("sealed: the hint for the provider's logout");
    table.text("scope").notNullable();
    table.timestamp("auth_time");
    table.jsonb("amr").notNullable();
    table.text("acr");
    table.text("ip_address").notNullable();
    table.text("user_agent").notNullable();
    table.timestamp("created_at").notNullable();
    table.timestamp("last_used_at").notNullable();
    table.timestamp("expires_at").notNullable().comment("whatever is done with it");
    table.timestamp("alive_until").notNullable().comment("unless it is used again before");
    table.timestamp("last_token_expires_at").comment("null: no token was made yet");
    table.timestamp("ended_at");
    table.text("end_reason");
    table.index(["customer_id", "created_at", "id"]);
    table.index(["user_id", "created_at", "id"]);
    table.index(["created_at", "id"]);
    table.index(["alive_until"]);
  });

  await trx.schema.createTable("sign_in_codes", (table) => {
    table.text("code_hash").primary();
    table.text("session_id").notNullable().unique().references("sessions.id").onDelete("cascade");
    table.text("state_hash").notNullable();
    table.text("return_url").notNullable();
    table.timestamp("expires_at").notNullable();
    table.timestamp("used_at");
  });

  await trx.schema.createTable("refresh_tokens", (table) => {
    table.text("token_hash").primary();
    table.text("session_id").notNullable().references("sessions.id").onDelete("cascade");
    table.timestamp("created_at").notNullable();
    table.timestamp("expires_at").notNullable();
    table.timestamp("used_at");
    table.index(["session_id"]);
  });

  await trx.schema.createTable("signing_keys", (table) => {
    table.text("kid").primary();
    table.jsonb("public_jwk").notNullable();
    table.text("private_jwk").notNullable().comment("sealed");
    table.timestamp("created_at").notNullable();
    // two keys never begin to sign at one time: whichever instance is second finds the first one's
    table.timestamp("activates_at").notNullable().unique();
  });
}
