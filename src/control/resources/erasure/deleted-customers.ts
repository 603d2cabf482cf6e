import type { Knex } from "knex";

/** The ids of all customers that were ever deleted: those whose rows are still there, and those whose are gone. */
export async function deletedCustomerIds(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select id from customers where deleted_at is not null
     union select id from deleted_customers order by id`,
  );
  return rows.map(({ id }) => id);
}

/** Keeps the ids of customers whose rows are about to be removed for good. Deleted and kept in one transaction. */
export async function keepDeletedIds(
  trx: Knex.Transaction,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  await trx.raw(
    `insert into deleted_customers (id, deleted_at)
     select id, coalesce(deleted_at, ?) from customers where id = any(?)
     on conflict do nothing`,
    [now, [...ids]],
  );
}
