import type { Knex } from "knex";

/**
 * The ids of all deleted customers, in their order.
 *
 * @param after - the last id that was read
 */
export async function deletedCustomerIdsAfter(db: Knex, after: string, most: number): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `(select id from customers where deleted_at is not null and id > :after order by id limit :most)
     union
     (select id from deleted_customers where id > :after order by id limit :most)
     order by id limit :most`,
    { after, most },
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
