import type { Knex } from "knex";
import { MIGRATIONS, listMigrations } from "./migration-files.ts";
import type { Migration } from "./migration-files.ts";
import type { Database } from "./database.ts";

export interface MigrateOptions {
  readonly log?: { info(message: string): void };
  /** Default: the product's own. */
  readonly folder?: string;
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

const TABLE = "schema_migrations";
/** The advisory lock under which migrations run; any number that nothing else in the database uses. */
const LOCK = 5_187_413_001;

/**
 * Brings the database to the state that this program needs: every file of `migrations/` that was not applied yet, in
 * the order of their names, each in a transaction of its own. Instances that start at once share the work.
 *
 * @returns the names of those that this call applied.
 * @throws Error when a file was changed after it had been applied, when the database is newer than the program, and
 *   when a file has come in before one that is applied already; nothing is done then.
 */
export async function migrate(
  db: Database,
  { folder = MIGRATIONS, log }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const migrations = await listMigrations(folder);
  const applied: string[] = [];
  for (;;) {
    const name = await db.transaction((trx) => applyNext(trx, migrations));
    if (name === undefined) return { applied };
    log?.info(`migration ${name} applied`);
    applied.push(name);
  }
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

/** One transaction: whoever has the lock looks afresh at what is left to do, and does one. */
async function applyNext(
  trx: Knex.Transaction,
  migrations: readonly Migration[],
): Promise<string | undefined> {
  // neither waiting for the lock nor a large table may be cut short
  await trx.raw("SET LOCAL statement_timeout TO 0");
  await trx.raw("select pg_advisory_xact_lock(?)", [LOCK]);
  await trx.raw(
    `create table if not exists ${TABLE} (
       name text primary key,
       checksum text not null,
       applied_at timestamptz not null default now()
     )`,
  );
  const [next] = pending(migrations, await readApplied(trx));
  if (next === undefined) return undefined;
  const up = await next.load();
  try {
    await up(trx);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${next.name} failed: ${why}`, { cause: error });
  }
  await trx(TABLE).insert({ name: next.name, checksum: next.checksum });
  return next.name;
}

function readApplied(db: Knex): Promise<AppliedMigration[]> {
  return db<AppliedMigration>(TABLE).select("name", "checksum").orderBy("name");
}

function pending(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  let last = "";
  for (const { name, checksum } of applied) {
    const migration = known.get(name);
    if (migration === undefined) {
      throw new Error(
        `the database is newer than this program: migration ${name} was applied, but this program has no such file; ` +
          "run the version that applied it, or a later one",
      );
    }
    if (migration.checksum !== checksum) {
      throw new Error(
        `migration ${name} was changed after it had been applied; undo the change, and put what is new into a file of its own`,
      );
    }
    if (name > last) last = name;
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
