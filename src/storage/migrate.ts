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
  /** The number of the migration that a program must know at least; for programs that do not have the file. */
  readonly compatible_from: string;
}

const TABLE = "schema_migrations";
const POLL_MS = 100;

/**
 * Brings the database to the state that this program needs: every file of `migrations/` that was not applied yet, in
 * the order of their names, each in a transaction of its own unless it says otherwise. Instances that start at once share the work. A database that
 * is newer than the program is left as it is, where what was done to it lets this program work on.
 *
 * @returns the names of those that this call applied.
 * @throws Error when a file was changed after it had been applied, when the database needs a newer program, and
 *   when a file has come in before one that is applied already; nothing is done then.
 */
export async function migrate(
  db: Database,
  { folder = MIGRATIONS, log }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const migrations = await listMigrations(folder);
  const applied: string[] = [];
  for (;;) {
    // neither waiting for the lock nor a large table may be cut short
    const next = await withSession(db, (session) => session.transaction((trx) => applyNext(trx, migrations)));
    if (next === undefined) break;
    const { name, isApplied } = next;
    if (!isApplied) {
      log?.info(
        `migration ${name} is being applied, which may take minutes; other instances go on meanwhile`,
      );
      if (!(await applyOutside(db, migrations, name))) continue;
    }
    log?.info(`migration ${name} applied`);
    applied.push(name);
  }
  const newer = unknownTo(migrations, await readApplied(db)).map(({ name }) => name);
  if (newer.length > 0)
    log?.info(`the database is newer than this program, which works with it: ${newer.join(", ")}`);
  return { applied };
}

/**
 * Makes the check whether this program works with the database as it is by now: a newer instance may have migrated it. What
 * is left to do is not looked at.
 *
 * @returns says what is wrong, or `undefined`
 */
export function createSchemaCheck(
  db: Database,
  { folder = MIGRATIONS }: Pick<MigrateOptions, "folder"> = {},
): () => Promise<string | undefined> {
  let known: readonly Migration[] | undefined;
  return async () => {
    // what could not be read is read again
    known ??= await listMigrations(folder);
    return tooOld(known, await readApplied(db));
  };
}

/**
 * Lists what {@link migrate} would apply.
 *
 * @throws Error where it would.
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
 * One transaction: who has the lock looks afresh at what is left to do, and does one.
 *
 * @returns which; not applied where it has to be {@link applyOutside}
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
  // made by a version that had no such column; only then, for this locks the table, which others look at meanwhile
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

/** @returns whether this call has applied it, and not another instance */
async function applyOutside(db: Database, migrations: readonly Migration[], name: string): Promise<boolean> {
  return withSession(db, async (session) => {
    // CREATE INDEX CONCURRENTLY waits for every statement that runs: one that waited for the lock would be a deadlock
    while (!(await tryLock(session))) await sleep(POLL_MS);
    const [next] = pending(migrations, await readApplied(session));
    if (next?.name !== name) return false;
    await apply(session, next, await next.load());
    return true;
  });
}

/** The lock goes with the session, and without it the session does nothing more. */
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
  // one that only adds asks for nothing
  await db(TABLE).insert({ name, checksum, compatible_from: compatibleFrom ?? ANY });
}

/** Before every number: any program that checks at all. */
const ANY = "0000";

/** Of those that were applied by versions that declared nothing, a program must know each. */
async function readApplied(db: Knex): Promise<AppliedMigration[]> {
  const { rows } = await db.raw<{ rows: AppliedMigration[] }>(
    // also where the table does not have the column yet
    `select name, checksum, coalesce(to_jsonb(m) ->> 'compatible_from', left(name, 4)) as compatible_from
     from ${TABLE} m order by name`,
  );
  return rows;
}

/** Those that were applied by a newer program. */
function unknownTo(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly AppliedMigration[] {
  const newest = migrations.at(-1)?.name ?? "";
  return applied.filter(({ name }) => name > newest);
}

/** @returns which version of the schema a program must know, where this one knows an earlier one */
function tooOld(migrations: readonly Migration[], applied: readonly AppliedMigration[]): string | undefined {
  const newest = migrations.at(-1)?.name ?? ANY;
  const asking = unknownTo(migrations, applied).filter((row) => row.compatible_from > numberOf(newest));
  if (asking.length === 0) return undefined;
  const needed = asking.map((row) => row.compatible_from).reduce((a, b) => (a > b ? a : b));
  const by = asking.filter((row) => row.compatible_from === needed).map(({ name }) => name);
  return (
    `the database is newer than this program: since ${by.join(", ")} it needs a version that knows migration ${needed} ` +
    `or a later one, and this version knows up to ${newest}`
  );
}

function pending(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const problem = tooOld(migrations, applied);
  if (problem !== undefined) throw new Error(`${problem}; run such a version`);
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
        `migration ${name} was applied, and this program has later ones but no such file; run the version that applied it`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new Error(
        `migration ${name} was changed after it had been applied; undo the change, and put what is new into a file of its own`,
      );
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  const left = migrations.filter(({ name }) => !done.has(name));
  const late = left.find(({ name }) => name < last);
  if (late !== undefined) {
    throw new Error(
      `migration ${late.name} stands before ${last}, which is applied already; give it a higher number`,
    );
  }
  return left;
}
