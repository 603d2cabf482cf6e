import type { Knex } from "knex";
import { inBackticks } from "../../text/index.ts";
import type { ControlContext } from "../platform/context.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import { sealedOtherwise } from "./sealing-keys.ts";
import type { RowKey, SealedColumns } from "../platform/sealed-columns.ts";

/** A master key with which values in the database are encrypted. */
interface KeyRow {
  readonly key_id: string;
  readonly check_value: string;
}

/**
 * Compares the configured keys with those that encrypt the database's secrets, and writes nothing. With a wrong key, a
 * start would seem to succeed until the first secret is needed, and new secrets would be encrypted with the wrong key.
 *
 * If this database was never checked before, one of its secrets is tried as a sample.
 *
 * @param sealed - everything that may be sealed
 * @throws Error that names the wrong setting and what to do
 */
export async function compareEncryptionKey(
  { db, box }: Pick<ControlContext, "db" | "box">,
  sealed: readonly SealedColumns[],
): Promise<void> {
  const used = await requireKeysInUse(db, box);
  if (used.length === 0 && !(await opensAnySecret(db, box, sealed))) throw wrongKey(box, []);
}

/**
 * Registers this program's encryption key before anything is encrypted with it: from then on every instance must have
 * it. If two instances start for the first time at once, the second finds the key of the first.
 *
 * @throws Error as {@link compareEncryptionKey}, for keys that are known
 */
export async function registerEncryptionKey(trx: Knex.Transaction, box: SecretBox, now: Date): Promise<void> {
  const [sealing] = box.keyIds;
  const isKnown = (used: readonly KeyRow[]) => used.some(({ key_id: id }) => id === sealing);
  if (isKnown(await requireKeysInUse(trx, box))) return;
  // others may still read; releases that do not take this lock wait when they write
  await trx.raw("lock table encryption_keys in share row exclusive mode");
  if (isKnown(await requireKeysInUse(trx, box))) return;
  await trx("encryption_keys")
    .insert({
      key_id: sealing,
      check_value: box.seal(sealing, purpose(sealing)),
      created_at: now,
      retired_at: null,
    })
    // a key that is used again after it was replaced
    .onConflict("key_id")
    .merge(["retired_at"]);
}

/** @returns why this instance cannot use the database's secrets, for `/readyz`; names no key */
export async function encryptionKeyProblem(db: Knex, box: SecretBox): Promise<string | undefined> {
  const [sealing] = box.keyIds;
  const used = await keysInUse(db);
  if (used.some((row) => !opensCheckValue(box, row)))
    return "secrets are encrypted with a key that this instance does not have";
  // where none is known, nothing has been compared yet
  if (used.length > 0 && !used.some(({ key_id: id }) => id === sealing))
    return "this instance encrypts with a key that was replaced";
  return undefined;
}

/**
 * Looks for values that an instance encrypted with a key after that key was retired. An instance with only the new key
 * cannot decrypt them. If a table cannot be checked, the others still are.
 *
 * @throws the first failure
 */
export async function reportUnknownKeys(
  { db, box, log }: Pick<ControlContext, "db" | "box" | "log">,
  columns: readonly SealedColumns[],
  signal: AbortSignal,
): Promise<void> {
  const tables: string[] = [];
  const failures: unknown[] = [];
  for (const sealed of columns) {
    if (signal.aborted) return;
    try {
      // earlier releases did not name the key within the value
      if ((await sealedOtherwise(db, sealed, ["", ...box.keyIds])).length > 0) tables.push(sealed.table);
    } catch (error) {
      failures.push(error);
    }
  }
  if (tables.length > 0)
    log.error(
      { tables },
      "some secrets are encrypted with a key that is not configured: list it in `api.previous_encryption_keys`, and run " +
        "`gatehouse keys rotate-master` once no instance has it as `api.encryption_key`",
    );
  if (failures.length > 0) throw failures[0];
}

function keysInUse(db: Knex): Promise<KeyRow[]> {
  return db<KeyRow>("encryption_keys").whereNull("retired_at").orderBy("created_at").select();
}

/** @throws Error where one of them is not configured */
async function requireKeysInUse(db: Knex, box: SecretBox): Promise<readonly KeyRow[]> {
  const used = await keysInUse(db);
  const foreign = used.filter((row) => !opensCheckValue(box, row));
  if (foreign.length > 0) throw wrongKey(box, foreign);
  return used;
}

function opensCheckValue(box: SecretBox, { key_id: id, check_value: value }: KeyRow): boolean {
  try {
    return box.open(value, purpose(id)) === id;
  } catch {
    return false;
  }
}

/**
 * @returns whether a secret of the first resource that has any can be decrypted; if there are no secrets, any key is
 *   right
 */
async function opensAnySecret(db: Knex, box: SecretBox, sealed: readonly SealedColumns[]): Promise<boolean> {
  for (const { table, key, columns, purpose: purposeOf } of sealed) {
    const [column] = columns;
    const row = await db(table)
      .whereNotNull(column)
      .first<Readonly<Record<string, unknown>> | undefined>(...key, column);
    if (row === undefined) continue;
    const rowKey: RowKey = Object.fromEntries(key.map((name) => [name, String(row[name])]));
    try {
      box.open(String(row[column]), purposeOf(rowKey));
      return true;
    } catch {
      return false;
    }
  }
  return true;
}

function wrongKey(box: SecretBox, foreign: readonly KeyRow[]): Error {
  const needed = inBackticks(foreign.map(({ key_id: id }) => id));
  const [sealing, ...others] = box.keyIds;
  return new Error(
    "the configured encryption key is not the one that the secrets in this database are encrypted with: " +
      (needed === "" ? "" : `they need the key with the id ${needed}; `) +
      `configured is \`${sealing}\`${others.length === 0 ? "" : `, and as previous ${inBackticks(others)}`}. ` +
      "Set `api.encryption_key` (without it, the file `encryption.key` in `api.data_directory` counts) to that key; to " +
      "replace it with another key, list it in `api.previous_encryption_keys`, and then run `gatehouse keys rotate-master`",
  );
}

function purpose(id: string): string {
  return `encryption_key:${id}`;
}
