import type { Knex } from "knex";
import type { SealedColumns } from "../platform/sealed-columns.ts";

/** What of a table is sealed with other keys than the given ones. */
export interface SealedOtherwise {
  readonly column: string;
  /** Ids of the keys; `""` stands for values of earlier releases, which do not name theirs. */
  readonly keyIds: readonly string[];
  /** Columns before it: a row is found once, by the first of its columns that is sealed otherwise. */
  readonly before: readonly string[];
}

/**
 * Finds which columns of a table hold values that are sealed with other keys than the given ones. Each column has an index by the id of
 * the key, so it is one look per key, however many rows there are.
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

/** Each id is the next one in the index: PostgreSQL by itself would read all of it. */
async function keyIdsIn(db: Knex, table: string, column: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `with recursive ids (id) as (
       (select ${KEY_ID} from :table: where :column: is not null order by 1 limit 1)
       union all
       select (select ${KEY_ID} from :table: where :column: is not null and ${KEY_ID} > ids.id order by 1 limit 1)
       from ids where ids.id is not null
     )
     select id from ids where id is not null`,
    { table, column },
  );
  return rows.map(({ id }) => id);
}

/** SQL, as the indexes have it: the id of the key that a value is sealed with. */
const KEY_ID = "split_part(:column:, '.', 3)";

/** Narrows a query of a table to the rows that have a value in this column which is sealed with one of these keys. */
export function whereSealed(
  query: Knex.QueryBuilder,
  { column, keyIds, before }: SealedOtherwise,
  sealing: string,
): Knex.QueryBuilder {
  const ids = keyIds.map(() => "?").join(", ");
  void query.whereNotNull(column).whereRaw(`split_part(??, '.', 3) in (${ids})`, [column, ...keyIds]);
  for (const other of before)
    void query.whereRaw("(?? is null or split_part(??, '.', 3) = ?)", [other, other, sealing]);
  return query;
}
