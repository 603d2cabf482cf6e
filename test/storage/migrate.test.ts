import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { cp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  closeDatabase,
  createSchemaCheck,
  migrate,
  openDatabase,
  pendingMigrations,
} from "../../src/storage/index.ts";
import { emptyDatabase, temporaryDirectory } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";

const MIGRATOR = fileURLToPath(new URL("support/migrator.ts", import.meta.url));
const PRODUCT = fileURLToPath(new URL("../../migrations", import.meta.url));

/** One that runs the statement. */
const statement = (sql: string) =>
  `export async function up(trx: { raw(sql: string): Promise<unknown> }) { await trx.raw(${JSON.stringify(sql)}); }\n`;

/** A module is loaded once by its path, whatever is written there later. */
async function copyOf(folder: string): Promise<string> {
  const copy = await temporaryDirectory();
  await cp(folder, copy, { recursive: true });
  return copy;
}

describe("storage: migrate", () => {
  let database: TestDatabase;
  let folder: string;
  beforeEach(async () => {
    [database, folder] = await Promise.all([emptyDatabase(), temporaryDirectory()]);
  });
  afterEach(async () => {
    await database.close();
  });

  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  const run = () => migrate(database.db, { folder });
  const pending = () => pendingMigrations(database.db, { folder });
  const applied = () => database.db("schema_migrations").orderBy("name").pluck<string[]>("name");

  it("applies each once, in the order of the names", async () => {
    await write("0002-rows.ts", statement("insert into t values (1)"));
    await write("0001-table.ts", statement("create table t (id int)"));
    await write("README.md", "not a migration");
    const said: string[] = [];
    assert.deepEqual(await pending(), ["0001-table", "0002-rows"]);
    const log = { info: (message: string) => said.push(message) };
    assert.deepEqual(await migrate(database.db, { folder, log }), { applied: ["0001-table", "0002-rows"] });
    assert.deepEqual(said, ["applied migration 0001-table", "applied migration 0002-rows"]);
    assert.deepEqual(await pending(), []);
    assert.deepEqual(await run(), { applied: [] });
    await write("0003-more.ts", statement("insert into t values (2)"));
    assert.deepEqual(await run(), { applied: ["0003-more"] });
    assert.deepEqual(await database.db("t").pluck("id"), [1, 2]);
  });

  it("applies each once when several processes start together", async () => {
    // long enough for the others to come in the middle of it
    await write("0001-table.ts", statement("create table t (id int); select pg_sleep(1)"));
    const names = ["0001-table"];
    for (let number = 2; number < 10; number++) {
      names.push(`000${number}-row`);
      await write(`000${number}-row.ts`, statement(`insert into t values (${number})`));
    }
    const runs = await Promise.all(
      [1, 2, 3].map(() => promisify(execFile)(process.execPath, [MIGRATOR, database.url, folder])),
    );
    const all = runs.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
    assert.deepEqual(all.sort(), names);
    assert.deepEqual(await database.db("t").orderBy("id").pluck("id"), [2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("leaves nothing of one that fails, and keeps those before it", async () => {
    await write("0001-table.ts", statement("create table t (id int)"));
    await write("0002-broken.ts", statement("insert into t values (1); select 1 / 0"));
    await write("0003-never.ts", statement("insert into t values (3)"));
    await assert.rejects(run(), /^Error: migration 0002-broken failed: .*division by zero/);
    assert.deepEqual(await applied(), ["0001-table"]);
    assert.deepEqual(await database.db("t").pluck("id"), []);
    assert.deepEqual(await pending(), ["0002-broken", "0003-never"]);
  });

  it("may take longer than the statements of requests", async () => {
    await write("0001-long.ts", statement("select pg_sleep(2.5)"));
    // bounds what prepares a new connection, too
    const db = openDatabase(database.url, { statementTimeoutMs: 2_000 });
    try {
      const [migrated] = await Promise.all([
        migrate(db, { folder }),
        assert.rejects(
          db.raw("select pg_sleep(30)").then(() => undefined),
          { code: "57014" },
        ),
      ]);
      assert.deepEqual(migrated, { applied: ["0001-long"] });
    } finally {
      await closeDatabase(db);
    }
  });

  it("notices one that was changed after it had been applied, but not other line ends", async () => {
    await write("0001-table.ts", statement("create table t (id int)"));
    await run();
    await write("0001-table.ts", statement("create table t (id int)").replaceAll("\n", "\r\n"));
    assert.deepEqual(await run(), { applied: [] });
    await write("0001-table.ts", statement("create table t (id bigint)"));
    await write("0002-more.ts", statement("create table u (id int)"));
    const message = /^Error: migration 0001-table was changed after it had been applied/;
    await assert.rejects(run(), message);
    await assert.rejects(pending(), message);
    assert.equal(await database.db.schema.hasTable("u"), false);
  });

  it("notices a database that is newer than the program", async () => {
    await write("0001-table.ts", statement("create table t (id int)"));
    await write("0002-later.ts", `export const breaks = true;\n${statement("create table u (id int)")}`);
    await run();
    await rm(join(folder, "0002-later.ts"));
    const message =
      /^Error: the database is newer than this program: since 0002-later it needs a version that knows migration 0002 or a later one, but this version only knows migrations up to 0001-table; upgrade the program$/;
    await assert.rejects(run(), message);
    await assert.rejects(pending(), message);
  });

  describe("beside a newer program", () => {
    /** Two versions: this one knows 0001 and 0002, and the newer one has applied another one as well. */
    const newer = async (text: string) => {
      await write("0001-table.ts", statement("create table t (id int)"));
      await write("0002-more.ts", statement("create table u (id int)"));
      await write("0003-newer.ts", text);
      await run();
      await rm(join(folder, "0003-newer.ts"));
    };
    const adds = statement("alter table t add column more int not null default 0");

    it("works on with what only adds, and says so", async () => {
      await newer(adds);
      const said: string[] = [];
      const log = { info: (message: string) => said.push(message) };
      assert.deepEqual(await migrate(database.db, { folder, log }), { applied: [] });
      assert.deepEqual(said, ["the database is newer than this program, but compatible with it: 0003-newer"]);
      assert.deepEqual(await pending(), []);
      assert.equal(await createSchemaCheck(database.db, { folder })(), undefined);
    });

    it("is looked at again after its own migrations could not be read", async () => {
      await newer(adds);
      await write("misnamed.ts", adds);
      const check = createSchemaCheck(database.db, { folder });
      await assert.rejects(check(), /is not a valid migration name/);
      await rm(join(folder, "misnamed.ts"));
      assert.equal(await check(), undefined);
    });

    it("works on where it knows the migration that the newer one names, and no further", async () => {
      await newer(`export const compatibleFrom = "0002";\n${adds}`);
      assert.deepEqual(await run(), { applied: [] });
      await rm(join(folder, "0002-more.ts"));
      const message =
        /since 0003-newer it needs a version that knows migration 0002 or a later one, .* 0001-table/;
      await assert.rejects(run(), message);
      await assert.rejects(pending(), message);
      assert.match((await createSchemaCheck(database.db, { folder })()) ?? "", message);
    });

    it("takes what was applied by a version that declared nothing for a break", async () => {
      await newer(adds);
      await database.db.raw("alter table schema_migrations drop column compatible_from");
      await assert.rejects(run(), /since 0003-newer it needs a version that knows migration 0003/);
      // and declares again, from the next one on
      await write("0003-newer.ts", adds);
      await write("0004-next.ts", statement("select 1"));
      assert.deepEqual(await run(), { applied: ["0004-next"] });
      await rm(join(folder, "0004-next.ts"));
      assert.deepEqual(await run(), { applied: [] });
    });

    it("adds nothing that comes before what is there, and misses what it should have", async () => {
      await newer(adds);
      await write("0002-other.ts", statement("select 1"));
      await assert.rejects(run(), /migration 0002-other sorts before 0003-newer, which is already applied/);
      await rm(join(folder, "0002-other.ts"));
      await rm(join(folder, "0001-table.ts"));
      await assert.rejects(
        run(),
        /migration 0001-table was applied, but this program has later migrations and not this file/,
      );
    });

    it("takes no declaration that cannot be true", async () => {
      for (const declared of [
        "breaks = false",
        'breaks = "yes"',
        'compatibleFrom = "0002"',
        'compatibleFrom = "1"',
        "compatibleFrom = 1",
        'breaks = true; export const compatibleFrom = "0001"',
      ]) {
        await write("0001-table.ts", `export const ${declared};\n${statement("select 1")}`);
        await assert.rejects(
          migrate(database.db, { folder: await copyOf(folder) }),
          /^Error: migration 0001-table must export either `breaks = true`/,
          declared,
        );
      }
    });
  });

  it("refuses one that comes before one that is applied", async () => {
    await write("0002-table.ts", statement("create table t (id int)"));
    await run();
    await write("0001-late.ts", statement("create table u (id int)"));
    await assert.rejects(
      run(),
      /^Error: migration 0001-late sorts before 0002-table, which is already applied/,
    );
    assert.equal(await database.db.schema.hasTable("u"), false);
  });

  it("refuses files that it would leave out or cannot run", async () => {
    await write("1-short.ts", statement("select 1"));
    await assert.rejects(run(), /1-short\.ts is not a valid migration name/);
    await rm(join(folder, "1-short.ts"));
    await write("0001-nothing.ts", "export const down = 1;\n");
    await assert.rejects(run(), /^Error: migration 0001-nothing does not export a function `up`$/);
    assert.equal(await database.db.schema.hasTable("schema_migrations"), false);
  });

  it("knows the product's own", async () => {
    const names = (await readdir(PRODUCT))
      .filter((file) => file.endsWith(".ts"))
      .map((file) => file.slice(0, -3));
    assert.ok(names.length > 0);
    assert.deepEqual(await pendingMigrations(database.db), names.sort());
    assert.deepEqual(await migrate(database.db), { applied: names });
  });
});
