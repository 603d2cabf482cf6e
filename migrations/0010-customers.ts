import type { Knex } from "knex";

/** Customers, and how many there are: counted as they change, so that a page of a list need not count a million rows. */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("customers", (table) => {
    table.text("id").primary();
    table.text("external_id").comment("of the caller's own system; unique among those that are not deleted");
    table.text("name").notNullable();
    table
      .specificType("name_key", 'text collate "C"')
      .notNullable()
      .comment("folded: sorted and searched by");
    table.text("status").notNullable().checkIn(["active", "suspended", "archived"], "customers_status");
    table.specificType("allowed_return_urls", "text[]").notNullable();
    table.jsonb("metadata").notNullable();
    table.integer("idp_revisions").notNullable().defaultTo(0);
    table.integer("revision").notNullable().defaultTo(1);
    table.timestamp("created_at").notNullable();
    table.timestamp("updated_at").notNullable();
    table.timestamp("deleted_at");
  });
  await trx.raw(
    "create unique index customers_external_id on customers (external_id) where deleted_at is null",
  );
  // one for each sort key, with and without the filter by status: whole, so that skipping pages reads no rows
  for (const columns of [
    "created_at, id",
    "updated_at, id",
    "name_key, id",
    "status, id",
    "status, created_at, id",
    "status, updated_at, id",
    "status, name_key, id",
  ]) {
    const name = `customers_${columns.replaceAll(", ", "_")}`;
    await trx.raw(`create index ${name} on customers (${columns}) where deleted_at is null`);
  }
  await trx.raw(
    "create index customers_not_active on customers (id) where status <> 'active' and deleted_at is null",
  );
  await trx.raw("create index customers_deleted on customers (deleted_at) where deleted_at is not null");
  await count(trx);
}

/** Several rows, so that transactions at the same time do not wait for each other; the number is their sum. */
async function count(trx: Knex): Promise<void> {
  await trx.schema.createTable("customer_counts", (table) => {
    table.smallint("slot").primary();
    for (const status of ["active", "suspended", "archived"]) table.bigInteger(status).notNullable();
  });
  await trx.raw(`
    create function count_customers() returns trigger language plpgsql as $$
    declare
      more_active bigint := 0;
      more_suspended bigint := 0;
      more_archived bigint := 0;
    begin
      if tg_op = 'TRUNCATE' then
        delete from customer_counts;
        return null;
      end if;
      if tg_op <> 'DELETE' then
        select count(*) filter (where status = 'active'),
               count(*) filter (where status = 'suspended'),
               count(*) filter (where status = 'archived')
          into more_active, more_suspended, more_archived
          from added where deleted_at is null;
      end if;
      if tg_op <> 'INSERT' then
        select more_active - count(*) filter (where status = 'active'),
               more_suspended - count(*) filter (where status = 'suspended'),
               more_archived - count(*) filter (where status = 'archived')
          into more_active, more_suspended, more_archived
          from removed where deleted_at is null;
      end if;
      if more_active <> 0 or more_suspended <> 0 or more_archived <> 0 then
        insert into customer_counts as counts (slot, active, suspended, archived)
          values (pg_backend_pid() % 16, more_active, more_suspended, more_archived)
          on conflict (slot) do update set
            active = counts.active + excluded.active,
            suspended = counts.suspended + excluded.suspended,
            archived = counts.archived + excluded.archived;
      end if;
      return null;
    end $$`);
  for (const [event, tables] of [
    ["insert", "referencing new table as added"],
    ["update", "referencing old table as removed new table as added"],
    ["delete", "referencing old table as removed"],
    ["truncate", ""],
  ]) {
    await trx.raw(
      `create trigger count_customers_${event} after ${event} on customers ${tables}
         for each statement execute function count_customers()`,
    );
  }
}
