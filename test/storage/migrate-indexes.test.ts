import { strict as assert } from "node:assert";
import { cp, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makePartition } from "../../src/control/analytics/records/partitions.ts";
import { migrate, pendingMigrations } from "../../src/storage/index.ts";
import { emptyDatabase, temporaryDirectory, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { lockWaits } from "../support/lock-waits.ts";

const PRODUCT = fileURLToPath(new URL("../../migrations", import.meta.url));
const INDEXES = "0109-erasure-indexes";
const DAY = Date.parse("2026-03-01T00:00:00Z");

describe("storage: migrations outside a transaction", () => {
  let database: TestDatabase;
  let folder: string;
  beforeEach(async () => {
    [database, folder] = await Promise.all([emptyDatabase(), temporaryDirectory()]);
  });
  afterEach(() => database.close());

  it("are run by one of several instances, and again where they were interrupted", async () => {
    const text = (body: string) =>
      `export const config = { transaction: false };
       export async function up(db: { raw(sql: string): Promise<unknown> }) { ${body} }\n`;
    const raw = (sql: string) => `await db.raw(${JSON.stringify(sql)});`;
    await writeFile(
      join(folder, "0001-rows.ts"),
      text(
        raw("create table if not exists t (id int)") +
          raw("insert into t values (1)") +
          // what is committed stays, and as soon as there are two rows it goes on
          raw("select 1 / (count(*) - 1) from t") +
          raw("select pg_sleep(0.3)"),
      ),
    );
    await writeFile(join(folder, "0002-more.ts"), text(raw("insert into t values (2)")));
    const run = async () => (await migrate(database.db, { folder })).applied;
    await assert.rejects(run(), /^Error: migration 0001-rows failed: .*division by zero/);
    assert.deepEqual(await pendingMigrations(database.db, { folder }), ["0001-rows", "0002-more"]);
    const applied = await Promise.all([run(), run(), run()]);
    assert.deepEqual(applied.flat().sort(), ["0001-rows", "0002-more"]);
    assert.deepEqual(await database.db("t").orderBy("id").pluck("id"), [1, 1, 2]);
  });

  it("go no further once their connection is lost, and the lock with it", async () => {
    await writeFile(
      join(folder, "0001-lost.ts"),
      `export const config = { transaction: false };
       export async function up(db: { raw(sql: string): Promise<unknown> }) {
         await db.raw("create table before_loss ()");
         await db.raw("select pg_terminate_backend(pg_backend_pid())").catch(() => undefined);
         await db.raw("create table after_loss ()");
       }\n`,
    );
    await assert.rejects(migrate(database.db, { folder }), /^Error: migration 0001-lost failed: /);
    assert.equal(await database.db.schema.hasTable("before_loss"), true);
    assert.equal(await database.db.schema.hasTable("after_loss"), false);
    assert.deepEqual(await pendingMigrations(database.db, { folder }), ["0001-lost"]);
  });

  it("are declared as knex declares them, and not otherwise", async () => {
    await writeFile(
      join(folder, "0001-typo.ts"),
      "export const config = { transactions: false };\nexport async function up() {}\n",
    );
    await assert.rejects(
      migrate(database.db, { folder }),
      /^Error: migration 0001-typo: the only allowed `config` is `{ transaction: false }`$/,
    );
  });

  describe("that index the audit trail", () => {
    beforeEach(async () => {
      const copied = {
        recursive: true,
        filter: (path: string) => path === PRODUCT || basename(path) <= `${INDEXES}.ts`,
      };
      await cp(PRODUCT, folder, copied);
      await rm(join(folder, `${INDEXES}.ts`));
      await migrate(database.db, { folder });
      await cp(PRODUCT, folder, copied);
      for (const day of [0, 1]) await makePartition(database.db, "audit_records", DAY + day * 86_400_000);
    });

    const insert = (id: string, at = DAY, table = database.db("audit_records")) =>
      table.insert({
        ...{ timestamp: new Date(at), kind: "change", id, request_id: "r", user_id: "" },
        ...{ resource: "user/usr_1", action: "user.created", record: {} },
      });
    const build = async () => (await migrate(database.db, { folder })).applied;
    const building = async (pattern: string) => {
      const [pid] = await lockWaits(database.db, { query: pattern });
      return pid;
    };
    /** Each index of the migration and whether it is valid. */
    const indexes = async () => {
      const { rows } = await database.db.raw<{ rows: { name: string; valid: boolean }[] }>(
        `select c.relname as name, x.indisvalid as valid from pg_index x join pg_class c on c.oid = x.indexrelid
         where c.relname like 'audit\\_records%\\_changed'
           or c.relname in ('users_of_any_customer', 'users_to_erase', 'webhook_deliveries_event')
         order by c.relname`,
      );
      return rows.map(({ name, valid }) => `${name}${valid ? "" : " (invalid)"}`);
    };
    const ALL = [
      ...["audit_records_20260301_changed", "audit_records_20260302_changed", "audit_records_changed"],
      ...["audit_records_default_changed", "users_of_any_customer", "users_to_erase"],
      "webhook_deliveries_event",
    ];

    it("let records be written meanwhile, from several instances that start at once", async () => {
      // a build waits for a transaction that sees the table as it was
      const old = await database.db.transaction({ isolationLevel: "repeatable read" });
      await old("audit_records").select("id");
      const builds = Promise.all([build(), build()]);
      try {
        await eventually("a build that waits", () => building("create index concurrently%"));
        await insert("chg_1");
        await insert("chg_2", DAY + 90_000_000);
        await database.db("users").where({ id: "nobody" }).update({ email: null });
      } finally {
        await old.commit();
      }
      assert.deepEqual((await builds).flat(), [INDEXES]);
      assert.deepEqual(await indexes(), ALL);
      // a day that comes later has its own
      await makePartition(database.db, "audit_records", DAY + 2 * 86_400_000);
      const { rows } = await database.db.raw<{ rows: object[] }>(
        "select from pg_inherits where inhparent = 'audit_records_changed'::regclass",
      );
      assert.equal(rows.length, 4);
    });

    it("go on where they were interrupted, and leave no invalid index", async () => {
      // the build on the second day waits for whoever writes to it
      const writing = await database.db.transaction();
      await insert("chg_1", DAY + 86_400_000, writing("audit_records_20260302"));
      const interrupted = assert.rejects(build(), /^Error: migration 0109-erasure-indexes failed: /);
      try {
        const build = `create index concurrently%"audit\\_records\\_20260302"%`;
        const pid = await eventually("a build that waits", () => building(build));
        await database.db.raw("select pg_terminate_backend(?)", [pid]);
        await interrupted;
      } finally {
        await writing.commit();
      }
      assert.deepEqual(await indexes(), [
        ...["audit_records_20260301_changed", "audit_records_20260302_changed (invalid)"],
        ...["audit_records_changed (invalid)", ...ALL.slice(4)],
      ]);
      assert.deepEqual(await pendingMigrations(database.db, { folder }), [INDEXES]);
      await insert("chg_2");
      assert.deepEqual(await build(), [INDEXES]);
      assert.deepEqual(await indexes(), ALL);
    });
  });

  it("fill in whom changes concern, as far as it is known, and index events by day", async () => {
    const { db } = database;
    const upTo = (last: string) =>
      cp(PRODUCT, folder, {
        recursive: true,
        filter: (path) => path === PRODUCT || basename(path) <= `${last}.ts`,
      });
    await upTo("0112-sealing-key-indexes");
    await migrate(db, { folder });
    await makePartition(db, "audit_records", DAY);
    await db.raw(`
      insert into customers (id, name, name_key, status, metadata, allowed_return_urls, created_at, updated_at)
        values ('cus_1', 'a', 'a', 'active', '{}', '{}', now(), now());
      insert into users (id, customer_id, subject, status, profile, attributes, created_at, updated_at)
        values ('usr_1', 'cus_1', 's', 'active', '{}', '{}', now(), now());
      insert into sessions (id, customer_id, user_id, client_id, scope, amr, ip_address, user_agent, created_at,
          last_used_at, expires_at, alive_until)
        values ('ses_1', 'cus_1', 'usr_1', 'k', 'openid', '[]', '', '', now(), now(), now(), now())`);
    const rows = {
      "session/ses_1": {},
      "session/ses_2": { before: { user_id: "usr_2" } },
      "session/ses_3": {},
      "user/usr_4": {},
      "users/usr_5": {},
    };
    await db("audit_records").insert(
      Object.entries(rows).map(([resource, record], index) => ({
        ...{ timestamp: new Date(DAY + (index % 2) * 90_000_000), kind: "change", id: `chg_${index}` },
        ...{ request_id: "r", user_id: "", resource, action: "a", record },
      })),
    );
    await makePartition(db, "events", DAY);
    await upTo("0116-refusals-and-redeliveries");
    await migrate(db, { folder });
    assert.deepEqual(await db("audit_records").orderBy("resource").pluck("about_user"), [
      ...["usr_1", "usr_2", null, "usr_4", null],
    ]);
    const { rows: indexes } = await db.raw<{ rows: { valid: boolean }[] }>(
      `select indisvalid as valid from pg_index where indexrelid = any(
         array['audit_records_about', 'events_without_user', 'webhook_deliveries_first_age']::regclass[])`,
    );
    assert.deepEqual(indexes, [{ valid: true }, { valid: true }, { valid: true }]);
  });
});
