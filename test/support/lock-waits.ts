import type { Knex } from "knex";

/**
 * The processes of a database that wait for a lock, by `pg_locks`: unlike `wait_event_type` of `pg_stat_activity`, it still
 * shows one that is looking for a deadlock at the moment (PostgreSQL, `deadlock_timeout`).
 *
 * @param query - what their statement must look like, for `ilike`
 * @param application - the `application_name` of their connection
 */
export async function lockWaits(
  db: Knex,
  { query = "%", application = "%" }: { readonly query?: string; readonly application?: string } = {},
): Promise<readonly number[]> {
  const { rows } = await db.raw<{ rows: { pid: number }[] }>(
    `select pid from pg_stat_activity
     where datname = current_database() and query ilike ? and application_name like ?
       and pid in (select pid from pg_locks where not granted)
     order by pid`,
    [query, application],
  );
  return rows.map(({ pid }) => pid);
}
