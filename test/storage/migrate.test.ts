import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { closeDatabase, migrate, openDatabase, pendingMigrations } from "../../src/storage/index.ts";
import { emptyDatabase, temporaryDirectory } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";

const MIGRATOR = fileURLToPath(new URL("support/migrator.ts", import.meta.url));
const PRODUCT = fileURLToPath(new URL("../../migrations", import.meta.url));

/** One that runs the statement. */
const statement = (sql: string) =>
  `export async function up(trx: { raw(sql: string): Promise<unknown> }) { await trx.raw(${JSON.stringify(sql)}); }\n`;

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
    assert.deepEqual(said, ["migration 0001-table applied", "migration 0002-rows applied"]);
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
    await write("0001-long.ts", statement("select pg_sleep(0.3)"));
    const db = openDatabase(database.url, { statementTimeoutMs: 50 });
    try {
      assert.deepEqual(await migrate(db, { folder }), { applied: ["0001-long"] });
      await assert.rejects(
        db.raw("select pg_sleep(0.3)").then(() => undefined),
        { code: "57014" },
      );
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
    await write("0002-later.ts", statement("create table u (id int)"));
    await run();
    await rm(join(folder, "0002-later.ts"));
    const message = /^Error: the database is newer than this program: migration 0002-later was applied/;
    await assert.rejects(run(), message);
    await assert.rejects(pending(), message);
  });

  it("refuses one that comes before one that is applied", async () => {
    await write("0002-table.ts", statement("create table t (id int)"));
    await run();
    await write("0001-late.ts", statement("create table u (id int)"));
    await assert.rejects(
      run(),
      /^Error: migration 0001-late stands before 0002-table, which is applied already/,
    );
    assert.equal(await database.db.schema.hasTable("u"), false);
  });

  it("refuses files that it would leave out or cannot run", async () => {
    await write("1-short.ts", statement("select 1"));
    await assert.rejects(run(), /1-short\.ts is not named like a migration/);
    await rm(join(folder, "1-short.ts"));
    await write("0001-nothing.ts", "export const down = 1;\n");
    await assert.rejects(run(), /^Error: migration 0001-nothing exports no function `up`$/);
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
