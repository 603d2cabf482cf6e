/** A row as far as its key goes, by the names of the columns. */
export type RowKey = Readonly<Record<string, string>>;

/** Where a resource keeps sealed values; it alone knows what they are sealed for. */
export interface SealedColumns {
  readonly table: string;
  /** The columns of the primary key, in its order. */
  readonly key: readonly [string, ...string[]];
  readonly columns: readonly [string, ...string[]];
  /** What the values of a row are sealed for. */
  readonly purpose: (key: RowKey) => string;
}
