/** The key of a row, by column name. */
export type RowKey = Readonly<Record<string, string>>;

/** Where a resource stores encrypted values; only the resource knows their purposes. */
export interface SealedColumns {
  readonly table: string;
  /** The columns of the primary key, in order. */
  readonly key: readonly [string, ...string[]];
  readonly columns: readonly [string, ...string[]];
  /** The purposes for which the values of a row are encrypted. */
  readonly purpose: (key: RowKey) => string;
}
