import { strict as assert } from "node:assert";
import { join } from "node:path";
import {
  closeDatabase,
  isUnavailable,
  isUniqueViolation,
  lockUntilEnd,
  lockUntilEndWithin,
  openDatabase,
} from "../../src/storage/index.ts";
import { errorCode } from "../../src/runtime/error-code.ts";
import { sleep } from "../../src/runtime/sleep.ts";
import type { Database } from "../../src/storage/index.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { emptyDatabase, privatePostgres, temporaryDirectory, testDatabase } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";
import { mutedPostgres } from "../support/muted-postgres.ts";

/** What the promise is rejected with. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail("it did not fail");
}

const ask = (db: Database) => db.raw("select 1").then(() => undefined);

describe("storage: database", () => {
  let database: TestDatabase;
  before(async () => {
    database = await emptyDatabase();
  });
  after(async () => {
    await database.close();
  });

  it("reads values as the code expects them", async () => {
    const { rows } = await database.db.raw<{ rows: unknown[] }>(
      `select count(*) as count, 9007199254740993::int8 as large, '2026-03-29T01:30:00+02:00'::timestamptz as time,
         '2026-03-29'::date as day, '{"a":[1]}'::jsonb as json, 'NaN'::numeric as exact`,
    );
    assert.deepEqual(rows, [
      {
        count: 1,
        large: "9007199254740993",
        time: new Date("2026-03-28T23:30:00Z"),
        day: "2026-03-29",
        json: { a: [1] },
        exact: "NaN",
      },
    ]);
  });

  it("works in UTC, under its own name and with a limit on statements", async () => {
    const db = openDatabase(database.url, { applicationName: "a name" });
    const limited = openDatabase(database.url, { statementTimeoutMs: 1_000 });
    try {
      // the limit bounds what prepares a new connection, too
      await eventually("a connection", () => limited.raw("select 1"));
      const { rows } = await db.raw<{ rows: unknown[] }>(
        "select current_setting('timezone') as zone, current_setting('application_name') as name",
      );
      assert.deepEqual(rows, [{ zone: "UTC", name: "a name" }]);
      const error = await failure(limited.raw("select pg_sleep(30)").then(() => undefined));
      assert.ok(error instanceof Error && "code" in error, String(error));
      assert.equal(error.code, "57014");
      assert.equal(isUnavailable(error), false);
    } finally {
      await Promise.all([closeDatabase(db), closeDatabase(limited)]);
    }
  });

  it("gives each test a database of its own", async () => {
    const other = await testDatabase();
    await database.db.raw("create table mine (id int)");
    assert.equal(await other.db.schema.hasTable("mine"), false);
    assert.equal(await other.db.schema.hasTable("schema_migrations"), true);
    await other.close();
    const gone = openDatabase(other.url);
    const error = await failure(ask(gone));
    await closeDatabase(gone);
    assert.match(String(error), /does not exist/);
    assert.equal(isUnavailable(error), false);
  });

  it("does not take a statement that it can never execute for a database that is away", async () => {
    const values = Array.from({ length: 65_536 + 10 }, () => 1);
    const error = await failure(
      database.db
        .raw(`select 1 where 1 in (${values.map(() => "?").join(",")})`, values)
        .then(() => undefined),
    );
    assert.ok(error instanceof Error && "code" in error, String(error));
    assert.equal(error.code, "08P01");
    assert.equal(isUnavailable(error), false);
    await ask(database.db);
  });

  it("tells a unique key that is taken from other errors", async () => {
    await database.db.raw("create table named (id int, name text, constraint named_name unique (name))");
    await database.db("named").insert({ id: 1, name: "x" });
    const error = await failure(database.db("named").insert({ id: 2, name: "x" }));
    assert.ok(isUniqueViolation(error));
    assert.ok(isUniqueViolation(error, "named_name"));
    assert.ok(!isUniqueViolation(error, "another"));
    assert.ok(!isUniqueViolation(await failure(database.db("nowhere").insert({ id: 1 }))));
    assert.ok(!isUniqueViolation({ code: "23505" }));
  });
});

describe("storage: a database that is away", () => {
  async function unavailable(url: string): Promise<void> {
    const db = openDatabase(url);
    try {
      const error = await failure(ask(db));
      assert.ok(isUnavailable(error), String(error));
    } finally {
      await closeDatabase(db);
    }
  }

  it("is told by a port where nothing listens, a host that is unknown and a socket that is missing", async () => {
    const port = String(await freePort());
    await unavailable(`postgresql://u:p@127.0.0.1:${port}/d`);
    await unavailable(`postgresql://u:p@localhost:${port}/d`);
    await unavailable("postgresql://u:p@no-such-host.invalid/d");
    const nowhere = encodeURIComponent(join(await temporaryDirectory(), "nowhere"));
    await unavailable(`postgresql://u:p@localhost/d?host=${nowhere}`);
  });

  it("is told by a kill, a stop and too many connections, and comes back in the same pool", async () => {
    const server = await privatePostgres();
    const db = openDatabase(server.url);
    try {
      await ask(db);
      const sleeping = failure(db.raw("select pg_sleep(60)").then(() => undefined));
      await eventually("the sleeper", async () => {
        const { rows } = await db.raw<{ rows: unknown[] }>(
          "select from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()",
        );
        return rows.length === 1;
      });
      await server.kill9();
      const error = await sleeping;
      assert.ok(isUnavailable(error), String(error));
      const later = await failure(ask(db));
      assert.ok(isUnavailable(later), String(later));
      await server.restart();
      await ask(db);

      const waiting = failure(db.transaction((trx) => trx.raw("select pg_sleep(60)")));
      await eventually("the sleeper", async () => {
        const { rows } = await db.raw<{ rows: unknown[] }>(
          "select from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()",
        );
        return rows.length === 1;
      });
      await server.stop();
      const stopped = await waiting;
      assert.ok(isUnavailable(stopped), String(stopped));
      await server.restart();
      await ask(db);

      const one = openDatabase(server.url, { poolSize: 120 });
      // more than the server has: who gets one keeps it until all have one or are refused
      const all = Array.from({ length: 120 }, () => one.transaction());
      const crowd = await Promise.allSettled(all);
      for (const entry of crowd) if (entry.status === "fulfilled") await entry.value.rollback();
      await closeDatabase(one);
      const refused = crowd.filter((entry) => entry.status === "rejected");
      assert.ok(refused.length > 0);
      for (const { reason } of refused) assert.ok(isUnavailable(reason), String(reason));
    } finally {
      await closeDatabase(db);
      await server.close();
    }
  });

  it("is told by a server that falls silent, within a bound and never again by the same connection", async () => {
    const database = await emptyDatabase();
    const server = await mutedPostgres(database.url);
    const db = openDatabase(server.url, { poolSize: 1, statementTimeoutMs: 1_000 });
    try {
      const pid = async () => {
        const { rows } = await db.raw<{ rows: { pid: number }[] }>("select pg_backend_pid() as pid");
        return rows[0]?.pid;
      };
      const before = await pid();
      // one that is not asked anything may be silent for as long as it likes
      await sleep(2_200);
      assert.equal(await pid(), before);
      const trx = await db.transaction();
      server.mute();
      const error = await failure(trx.raw("select 1").then(() => undefined));
      assert.deepEqual([isUnavailable(error), errorCode(error)], [true, "ETIMEDOUT"]);
      await trx.rollback();
      server.unmute();
      assert.notEqual(await pid(), before);
    } finally {
      await closeDatabase(db);
      await server.close();
      await database.close();
    }
  });

  it("gives up on a lock that another transaction holds, after the time that it was given", async () => {
    const database = await emptyDatabase();
    try {
      const holding = await database.db.transaction();
      await lockUntilEnd(holding, "partitions");
      const take = () => database.db.transaction((other) => lockUntilEndWithin(other, "partitions", 0));
      assert.equal(await take(), false);
      await holding.rollback();
      assert.equal(await take(), true);
    } finally {
      await database.close();
    }
  });

  it("ends a transaction of a client that has fallen silent, and its locks with it", async () => {
    const database = await emptyDatabase();
    const db = openDatabase(database.url, { statementTimeoutMs: 2_000 });
    try {
      // makes the other one's connection: nothing slow may come between the statements of the transaction
      await ask(database.db);
      const trx = await db.transaction();
      await lockUntilEnd(trx, "partitions");
      const { rows } = await trx.raw<{ rows: { locks: number }[] }>(
        "select count(*)::int as locks from pg_locks where pid = pg_backend_pid() and locktype = 'advisory' and granted",
      );
      assert.deepEqual(rows, [{ locks: 1 }]);
      assert.equal(
        await database.db.transaction((other) => lockUntilEndWithin(other, "partitions", 60_000)),
        true,
      );
      const error = await failure(trx.raw("select 1").then(() => undefined));
      assert.ok(isUnavailable(error), String(error));
      await trx.rollback();
    } finally {
      await closeDatabase(db);
      await database.close();
    }
  });

  it("is not told by errors of other kinds", () => {
    assert.ok(!isUnavailable(new TypeError("x is not a function")));
    assert.ok(!isUnavailable(Object.assign(new Error("no such file"), { code: "ENOENT", syscall: "open" })));
    assert.ok(!isUnavailable(Object.assign(new Error("Connection terminated"), { code: "22023" })));
    assert.ok(!isUnavailable("57P01"));
    assert.ok(!isUnavailable(undefined));
  });
});
