import type { Knex } from "knex";
import { ADVISORY_LOCKS, lockUntilEnd } from "./advisory-locks.ts";
import { MIGRATIONS, listMigrations, numberOf } from "./migration-files.ts";
import type { LoadedMigration, Migration } from "./migration-files.ts";
import { withSession, type Database } from "./database.ts";
import { errorMessage } from "../text/index.ts";
import { sleep } from "../runtime/sleep.ts";

export interface MigrateOptions {
  readonly log?: { info(message: string): void };
  /** Default: the product's own. */
  readonly folder?: string;
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  /** The number of the newest migration that a program must know; for programs that do not have the file. */
  readonly compatible_from: string;
}

const TABLE = "schema_migrations";
const POLL_MS = 100;

/**
 * Migrates the database to the schema of this program: applies every pending file of `migrations/` in the order of their names,
 * each in its own transaction unless it says otherwise. Instances that start at once share the work. A database that is newer
 * than the program is left unchanged if this program is compatible with it.
 *
 * @returns the names of the migrations that this call applied.
 * @throws Error if a file was changed after it had been applied, if the database needs a newer program, or if a new file sorts
 *   before one that is already applied; then nothing is done.
 */
export async function migrate(
  db: Database,
  { folder = MIGRATIONS, log }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const migrations = await listMigrations(folder);
  const applied: string[] = [];
  const onApplied = (name: string) => {
    log?.info(`applied migration ${name}`);
    applied.push(name);
  };
  for (;;) {
    // one session for all: in a new one, the server reads its catalogs again; no timeout, because waiting for the lock or
    // changing a large table must not be cancelled
    const outside = await withSession(db, (session) => applyInTransactions(session, migrations, onApplied));
    if (outside === undefined) break;
    log?.info(`applying migration ${outside}, which may take minutes; other instances keep running`);
    if (await applyOutside(db, migrations, outside)) onApplied(outside);
  }
  const newer = unknownTo(migrations, await readApplied(db)).map(({ name }) => name);
  if (newer.length > 0)
    log?.info(`the database is newer than this program, but compatible with it: ${newer.join(", ")}`);
  return { applied };
}

/**
 * Creates a check whether this program is compatible with the current database, which a newer instance may have migrated.
 * Pending migrations are not considered.
 *
 * @returns a function that returns the problem, or `undefined`
 */
export function createSchemaCheck(
  db: Database,
  { folder = MIGRATIONS }: Pick<MigrateOptions, "folder"> = {},
): () => Promise<string | undefined> {
  let known: readonly Migration[] | undefined;
  return async () => {
    // after a failure, read again
    known ??= await listMigrations(folder);
    return tooOld(known, await readApplied(db));
  };
}

/**
 * Lists the migrations that {@link migrate} would apply.
 *
 * @throws Error if it would throw.
 */
export async function pendingMigrations(
  db: Database,
  { folder = MIGRATIONS }: Pick<MigrateOptions, "folder"> = {},
): Promise<string[]> {
  const migrations = await listMigrations(folder);
  const applied = (await db.schema.hasTable(TABLE)) ? await readApplied(db) : [];
  return pending(migrations, applied).map(({ name }) => name);
}

/**
 * Applies pending migrations, each in its own transaction, up to one that must be run by {@link applyOutside}.
 *
 * @returns the name of that one; `undefined` if none is left
 */
async function applyInTransactions(
  session: Database,
  migrations: readonly Migration[],
  onApplied: (name: string) => void,
): Promise<string | undefined> {
  for (;;) {
    const next = await session.transaction((trx) => applyNext(trx, migrations));
    if (next?.isApplied !== true) return next?.name;
    onApplied(next.name);
  }
}

/**
 * Runs in one transaction: under the lock, reads the pending migrations again and applies one.
 *
 * @returns that migration; it is not applied if it must be run by {@link applyOutside}
 */
async function applyNext(
  trx: Knex.Transaction,
  migrations: readonly Migration[],
): Promise<{ readonly name: string; readonly isApplied: boolean } | undefined> {
  await lockUntilEnd(trx, "migrations");
  await trx.raw(
    `create table if not exists ${TABLE} (
       name text primary key,
       checksum text not null,
       applied_at timestamptz not null default now(),
       compatible_from text
     )`,
  );
  // created by a version without this column; only then, because this locks the table, which other instances read
  if (!(await trx.schema.hasColumn(TABLE, "compatible_from")))
    await trx.raw(`alter table ${TABLE} add column compatible_from text`);
  const [next] = pending(migrations, await readApplied(trx));
  if (next === undefined) return undefined;
  const { name } = next;
  const loaded = await next.load();
  if (!loaded.inTransaction) return { name, isApplied: false };
  await apply(trx, next, loaded);
  return { name, isApplied: true };
}

/** @returns whether this call applied it, not another instance */
async function applyOutside(db: Database, migrations: readonly Migration[], name: string): Promise<boolean> {
  return withSession(db, async (session) => {
    // CREATE INDEX CONCURRENTLY waits for every running statement: waiting for the lock inside one would be a deadlock
    while (!(await tryLock(session))) await sleep(POLL_MS);
    const [next] = pending(migrations, await readApplied(session));
    if (next?.name !== name) return false;
    await apply(session, next, await next.load());
    return true;
  });
}

/** The lock is released with the session, and without it the session does nothing more. */
async function tryLock(session: Database): Promise<boolean> {
  const { rows } = await session.raw<{ rows: { locked: boolean }[] }>(
    "select pg_try_advisory_lock(?) as locked",
    [ADVISORY_LOCKS.migrationsOutside],
  );
  return rows[0]?.locked === true;
}

async function apply(
  db: Knex,
  { name, checksum }: Migration,
  { up, compatibleFrom }: LoadedMigration,
): Promise<void> {
  try {
    await up(db);
  } catch (error) {
    const why = errorMessage(error);
    throw new Error(`migration ${name} failed: ${why}`, { cause: error });
  }
  // a migration that only adds requires nothing
  await db(TABLE).insert({ name, checksum, compatible_from: compatibleFrom ?? ANY });
}

/** Sorts before every number: compatible with any program that checks. */
const ANY = "0000";

/** Migrations applied by versions without such declarations must all be known to a program. */
async function readApplied(db: Knex): Promise<AppliedMigration[]> {
  const { rows } = await db.raw<{ rows: AppliedMigration[] }>(
    // works even if the table does not have the column yet
    `select name, checksum, coalesce(to_jsonb(m) ->> 'compatible_from', left(name, 4)) as compatible_from
     from ${TABLE} m order by name`,
  );
  return rows;
}

/** The migrations that a newer program applied. */
function unknownTo(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly AppliedMigration[] {
  const newest = migrations.at(-1)?.name ?? "";
  return applied.filter(({ name }) => name > newest);
}

/** @returns which schema version a program must know, if this one only knows an earlier one */
function tooOld(migrations: readonly Migration[], applied: readonly AppliedMigration[]): string | undefined {
  const newest = migrations.at(-1)?.name ?? ANY;
  const asking = unknownTo(migrations, applied).filter((row) => row.compatible_from > numberOf(newest));
  if (asking.length === 0) return undefined;
  const needed = asking.map((row) => row.compatible_from).reduce((a, b) => (a > b ? a : b));
  const by = asking.filter((row) => row.compatible_from === needed).map(({ name }) => name);
  return (
    `the database is newer than this program: since ${by.join(", ")} it needs a version that knows migration ${needed} ` +
    `or a later one, but this version only knows migrations up to ${newest}`
  );
}

function pending(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const problem = tooOld(migrations, applied);
  if (problem !== undefined) throw new Error(`${problem}; upgrade the program`);
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const newer = new Set(unknownTo(migrations, applied));
  let last = "";
  for (const row of applied) {
    const { name, checksum } = row;
    if (name > last) last = name;
    if (newer.has(row)) continue;
    const migration = known.get(name);
    if (migration === undefined) {
      throw new Error(
        `migration ${name} was applied, but this program has later migrations and not this file; run the version that applied it`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new Error(
        `migration ${name} was changed after it had been applied; revert the change and add a new migration instead`,
      );
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  const left = migrations.filter(({ name }) => !done.has(name));
  const late = left.find(({ name }) => name < last);
  if (late !== undefined) {
    throw new Error(
      `migration ${late.name} sorts before ${last}, which is already applied; give it a higher number`,
    );
  }
  return left;
}
