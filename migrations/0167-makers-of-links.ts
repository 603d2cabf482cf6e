import type { Knex } from "knex";

/**
 * Who may no longer make links for others has made none: with such a link, a former owner could become another one. Not a foreign key:
 * it would lock the maker's row before the lock by which units of work take turns (decision 0098).
 */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.schema.alterTable("dashboard_links", (table) => {
    table
      .text("created_by")
      .index()
      .comment(
        "a dashboard user; null for links made on the machine itself, and for those of earlier releases",
      );
  });
}
