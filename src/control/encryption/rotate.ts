import type { Knex } from "knex";
import { sleep } from "../../runtime/sleep.ts";
import type { ControlContext } from "../platform/context.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import type { UnitOfWork, UnitOrigin } from "../platform/unit.ts";
import { registerEncryptionKey } from "./key-check.ts";
import { sealedOtherwise, whereSealed, type SealedOtherwise } from "./sealing-keys.ts";
import type { RowKey, SealedColumns } from "../platform/sealed-columns.ts";

/** Rows per transaction. A request that needs one of them has to wait for the whole transaction. */
const BATCH = 500;
/** Rows locked by another transaction are left to a later pass. */
const PASSES = 10;
const PAUSE_MS = 500;

/** The result for one table. */
export interface TableRotation {
  readonly table: string;
  readonly resealed: number;
  /** Rows with a value that is not encrypted with the current key. */
  readonly left: number;
  /** Of these, rows with a value that no configured key decrypts. */
  readonly unreadable: number;
}

export interface Rotation {
  /** The id of the key that encrypts everything. */
  readonly keyId: string;
  readonly tables: readonly TableRotation[];
  /** Ids of keys that are no longer used for any value, as of now. */
  readonly retired: readonly string[];
}

export interface RotationOptions {
  readonly batch?: number;
  /** Called within the transaction of each batch. */
  readonly onBatch?: (table: string, rows: number) => Promise<void> | void;
}

/**
 * Encrypts everything with the current key while instances are running: batch by batch, each in a transaction. The
 * values themselves show the progress, so an interrupted rotation continues where it stopped.
 */
export async function rotateMasterKey(
  { db, units, box }: Pick<ControlContext, "db" | "units" | "box">,
  origin: UnitOrigin,
  sealed: readonly SealedColumns[],
  options: RotationOptions = {},
): Promise<Rotation> {
  const [keyId] = box.keyIds;
  await units(origin, ({ trx, now }) => registerEncryptionKey(trx, box, now));
  const resealed = new Map<string, number>();
  let left: readonly TableRotation[] = [];
  for (let pass = 1; pass <= PASSES; pass += 1) {
    if (pass > 1) await sleep(PAUSE_MS);
    const unreadable = new Map<string, number>();
    for (const columns of sealed) {
      const result = await resealTable({ db, box }, (work) => units(origin, work), columns, options);
      resealed.set(columns.table, (resealed.get(columns.table) ?? 0) + result.resealed);
      unreadable.set(columns.table, result.unreadable);
    }
    left = (await countSealedOtherwise(db, keyId, sealed)).map((row) => ({
      ...row,
      resealed: resealed.get(row.table) ?? 0,
      unreadable: unreadable.get(row.table) ?? 0,
    }));
    if (left.every((row) => row.left === row.unreadable)) break;
  }
  const { counts, retired } = await units(origin, (unit) => completeRotation(unit, keyId, sealed, resealed));
  // includes what an instance has encrypted with another key since the last pass
  const leftOf = new Map(counts.map((row) => [row.table, row.left]));
  const tables = left.map((row) => ({ ...row, left: leftOf.get(row.table) ?? row.left }));
  return { keyId, tables, retired };
}

/** The number of rows of a table with a value that is not encrypted with a key. */
export interface RowsLeft {
  readonly table: string;
  readonly left: number;
}

/** @returns the number for each table */
export async function countSealedOtherwise(
  db: Knex,
  keyId: string,
  columns: readonly SealedColumns[],
): Promise<RowsLeft[]> {
  const counts: RowsLeft[] = [];
  for (const sealed of columns) {
    let left = 0;
    for (const found of await sealedOtherwise(db, sealed, [keyId])) {
      const row = await whereSealed(db(sealed.table), found, keyId)
        .count({ total: "*" })
        .first<{ total: number }>();
      left += row.total;
    }
    counts.push({ table: sealed.table, left });
  }
  return counts;
}

interface Resealed {
  readonly resealed: number;
  readonly unreadable: number;
}

async function resealTable(
  { db, box }: Pick<ControlContext, "db" | "box">,
  unitOf: (work: (unit: UnitOfWork) => Promise<BatchResult>) => Promise<BatchResult>,
  sealed: SealedColumns,
  { batch = BATCH, onBatch }: RotationOptions,
): Promise<Resealed> {
  let [resealed, unreadable] = [0, 0];
  for (const found of await sealedOtherwise(db, sealed, [box.keyIds[0]]))
    // one key at a time: its rows are adjacent in the index
    for (const keyId of found.keyIds) {
      let after: RowKey | undefined;
      do {
        const page = { found: { ...found, keyIds: [keyId] }, after, size: batch };
        const done = await unitOf(async (unit) => {
          const result = await resealBatch(unit, box, sealed, page);
          await onBatch?.(sealed.table, result.resealed);
          return result;
        });
        resealed += done.resealed;
        unreadable += done.unreadable;
        after = done.last;
      } while (after !== undefined);
    }
  return { resealed, unreadable };
}

interface BatchResult extends Resealed {
  /** The start of the next batch; `undefined` after the last one. */
  readonly last: RowKey | undefined;
}

interface Page {
  readonly found: SealedOtherwise;
  readonly after: RowKey | undefined;
  readonly size: number;
}

async function resealBatch(
  { trx }: UnitOfWork,
  box: SecretBox,
  { table, key, columns, purpose }: SealedColumns,
  { found, after, size }: Page,
): Promise<BatchResult> {
  const query = whereSealed(trx(table), found, box.keyIds[0])
    .select(...key, ...columns)
    .orderBy([...key])
    .limit(size)
    // rows that another transaction is about to change are left to a later pass; rows that only refer to this one do
    // not wait
    .forNoKeyUpdate()
    .skipLocked();
  if (after !== undefined)
    void query.whereRaw(`(${key.map(() => "??").join(", ")}) > (${key.map(() => "?").join(", ")})`, [
      ...key,
      ...key.map((name) => after[name] ?? ""),
    ]);
  const rows = (await query) as Readonly<Record<string, unknown>>[];
  let unreadable = 0;
  let last: RowKey | undefined;
  for (const row of rows) {
    last = Object.fromEntries(key.map((name) => [name, String(row[name])]));
    const fresh = reseal(row, columns, box, purpose(last));
    if (fresh === undefined) unreadable += 1;
    else await trx(table).where(last).update(fresh);
  }
  return { resealed: rows.length - unreadable, unreadable, last: rows.length < size ? undefined : last };
}

/** @returns the row's values encrypted with the current key; `undefined` if one of them cannot be decrypted */
function reseal(
  row: Readonly<Record<string, unknown>>,
  columns: readonly string[],
  box: SecretBox,
  purpose: string,
): Readonly<Record<string, string>> | undefined {
  try {
    return Object.fromEntries(
      columns.flatMap((column) => {
        const value = row[column];
        return typeof value === "string" ? [[column, box.seal(box.open(value, purpose), purpose)]] : [];
      }),
    );
  } catch {
    return undefined;
  }
}

/** Retires the keys that are no longer used for any value, and records the rotation, if anything was done. */
async function completeRotation(
  unit: UnitOfWork,
  keyId: string,
  sealed: readonly SealedColumns[],
  resealed: ReadonlyMap<string, number>,
): Promise<{ readonly counts: readonly RowsLeft[]; readonly retired: readonly string[] }> {
  const counts = await countSealedOtherwise(unit.trx, keyId, sealed);
  const retired = counts.every((row) => row.left === 0)
    ? await unit
        .trx("encryption_keys")
        .whereNot({ key_id: keyId })
        .whereNull("retired_at")
        .update({ retired_at: unit.now })
        .returning<{ key_id: string }[]>("key_id")
    : [];
  const ids = retired.map(({ key_id: id }) => id);
  const changed = [...resealed].filter(([, count]) => count > 0);
  if (ids.length > 0 || changed.length > 0)
    unit.record({
      action: "encryption_key.rotated",
      target: { type: "encryption_key", id: keyId },
      after: { resealed: Object.fromEntries(changed), retired: ids },
    });
  return { counts, retired: ids };
}
