import type { Knex } from "knex";

/** Who may no longer make links for others has made none: with such a link, a former owner could become another one. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.schema.alterTable("dashboard_links", (table) => {
    table
      .text("created_by")
      .references("dashboard_users.id")
      .onDelete("cascade")
      .index()
      .comment("null for links that were made on the machine itself, and for those of earlier releases");
  });
}
