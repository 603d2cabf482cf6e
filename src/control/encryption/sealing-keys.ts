import type { Knex } from "knex";
import type { SealedColumns } from "../platform/sealed-columns.ts";

/** The values of a table that are encrypted with keys other than the given ones. */
export interface SealedOtherwise {
  readonly column: string;
  /** Ids of the keys; `""` stands for values of earlier releases, which do not name their key. */
  readonly keyIds: readonly string[];
  /** Columns before this one: a row is counted once, at the first of its columns with another key. */
  readonly before: readonly string[];
}

/**
 * Finds the columns of a table with values that are encrypted with keys other than the given ones. Each column has an
 * index by the id of the key, so this takes one look-up per key, however many rows there are.
 */
export async function sealedOtherwise(
  db: Knex,
  { table, columns }: SealedColumns,
  keyIds: readonly string[],
): Promise<SealedOtherwise[]> {
  const found: SealedOtherwise[] = [];
  for (const [at, column] of columns.entries()) {
    const others = (await keyIdsIn(db, table, column)).filter((id) => !keyIds.includes(id));
    if (others.length > 0) found.push({ column, keyIds: others, before: columns.slice(0, at) });
  }
  return found;
}

/** Each id is the next one in the index; a plain query would make PostgreSQL read all of it. */
async function keyIdsIn(db: Knex, table: string, column: string): Promise<string[]> {
  const keyId = keyIdOf(":column:");
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `with recursive ids (id) as (
       (select ${keyId} from :table: where :column: is not null order by 1 limit 1)
       union all
       select (select ${keyId} from :table: where :column: is not null and ${keyId} > ids.id order by 1 limit 1)
       from ids where ids.id is not null
     )
     select id from ids where id is not null`,
    { table, column },
  );
  return rows.map(({ id }) => id);
}

/**
 * SQL, as in the indexes: the id of the key with which a value is encrypted.
 *
 * @param column - how the statement binds the column's name
 */
const keyIdOf = (column: ":column:" | "??") => `split_part(${column}, '.', 3)`;

/** Filters a table by rows that have a value in this column encrypted with one of these keys. */
export function whereSealed(
  query: Knex.QueryBuilder,
  { column, keyIds, before }: SealedOtherwise,
  sealing: string,
): Knex.QueryBuilder {
  const ids = keyIds.map(() => "?").join(", ");
  void query.whereNotNull(column).whereRaw(`${keyIdOf("??")} in (${ids})`, [column, ...keyIds]);
  for (const other of before)
    void query.whereRaw(`(?? is null or ${keyIdOf("??")} = ?)`, [other, other, sealing]);
  return query;
}
