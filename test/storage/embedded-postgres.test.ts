import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, readdir, rm, rmdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  closeDatabase,
  isUnavailable,
  openDatabase,
  startEmbeddedPostgres,
} from "../../src/storage/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { isAlive } from "../../src/storage/process-state.ts";
import { databaseDirectory } from "../support/temporary-directory.ts";
import { eventually } from "../support/eventually.ts";
import { endHolders, hold } from "./support/processes.ts";

const quiet = { info: () => undefined, warn: () => undefined };

const start = (dataDirectory: string, keepRunning = false) =>
  startEmbeddedPostgres({ dataDirectory, databases: ["gatehouse"], log: quiet, keepRunning });

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase(url);
  try {
    return await work(db);
  } finally {
    await closeDatabase(db);
  }
}

const rows = (url: string) => withDatabase(url, (db) => db("t").orderBy("id").pluck<number[]>("id"));
const count = (db: Database, sql: string) =>
  db.raw<{ rows: { n: number }[] }>(`select count(*) as n ${sql}`).then((result) => result.rows[0]?.n);

describe("storage: embedded PostgreSQL", () => {
  let dataDirectory: string;
  beforeEach(async () => {
    dataDirectory = await databaseDirectory();
  });
  afterEach(async () => {
    await endHolders();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  const pidFile = () => join(dataDirectory, "postgres", "cluster", "data", "postmaster.pid");

  it("starts, keeps its data over a stop, and leaves no process", async () => {
    const first = await start(dataDirectory);
    assert.equal(first.adopted, false);
    const pid = await first.pid();
    await withDatabase(first.url("gatehouse"), async (db) => {
      await db.raw("create table t (id int)");
      await db("t").insert({ id: 1 });
    });
    await first.close();
    assert.equal(await isAlive(pid!), false);
    assert.equal(await first.pid(), undefined);
    const second = await start(dataDirectory);
    assert.equal(second.url("gatehouse"), first.url("gatehouse"));
    assert.deepEqual(await rows(second.url("gatehouse")), [1]);
    await second.close();
    await second.close();
  });

  it("is set up to keep what it has acknowledged, and to keep secrets", async () => {
    const server = await start(dataDirectory);
    await withDatabase(server.url("gatehouse"), async (db) => {
      const setting = async (name: string) =>
        (await db.raw<{ rows: { value: string }[] }>("select current_setting(?) as value", [name])).rows[0]
          ?.value;
      assert.equal(await setting("fsync"), "on");
      assert.equal(await setting("full_page_writes"), "on");
      assert.equal(await setting("synchronous_commit"), "on");
      assert.equal(await setting("data_checksums"), "on");
      assert.equal(await setting("server_encoding"), "UTF8");
      assert.equal(await setting("listen_addresses"), "");
      assert.equal(await setting("is_superuser"), "off");
      assert.deepEqual((await db.raw<{ rows: unknown[] }>("select lower('ÄÖ') as text")).rows, [
        { text: "äö" },
      ]);
      await assert.rejects(
        db.raw("copy (select 1) to program 'true'").then(() => undefined),
        { code: "42501" },
      );
      // statements that fail are logged, the values in them are not
      await db.raw("create table t (secret text unique)");
      await db("t").insert({ secret: "s3cr3t-value" });
      await assert.rejects(db("t").insert({ secret: "s3cr3t-value" }), { code: "23505" });
    });
    await server.close();
    const log = await readFile(join(dataDirectory, "postgres", "postgres.log"), "utf8");
    assert.match(log, /duplicate key value/);
    assert.doesNotMatch(log, /s3cr3t-value/);
    assert.ok(!log.includes(new URL(server.url("gatehouse")).password));
  });

  it("outlives a process that is killed, and the next one finds it", async () => {
    const holder = hold(dataDirectory);
    const { adopted, pid, url } = await holder.held;
    assert.equal(adopted, false);
    await withDatabase(url, (db) => db.raw("create table t (id int); insert into t values (1)"));
    await holder.kill9();
    assert.ok(await isAlive(pid));
    const server = await start(dataDirectory);
    assert.equal(server.adopted, true);
    assert.equal(await server.pid(), pid);
    assert.deepEqual(await rows(server.url("gatehouse")), [1]);
    await server.close();
    assert.equal(await isAlive(pid), false);
  });

  it("is one server for processes that start together on an empty folder", async () => {
    const holders = [1, 2, 3, 4].map(() => hold(dataDirectory));
    const held = await Promise.all(holders.map((holder) => holder.held));
    assert.equal(new Set(held.map(({ pid }) => pid)).size, 1, JSON.stringify(held));
    assert.equal(new Set(held.map(({ url }) => url)).size, 1);
    assert.equal(held.filter(({ adopted }) => !adopted).length, 1);
    // nothing is left of the clusters that lost
    const left = await readdir(join(dataDirectory, "postgres"));
    assert.deepEqual(left.sort(), ["cluster", "lib", "postgres.log", "socket"]);
    await Promise.all(holders.map((holder) => holder.leave()));
    assert.equal(await isAlive(held[0]!.pid), false);
  });

  it("is stopped by the last one that leaves, whoever has started it", async () => {
    const starter = hold(dataDirectory);
    const { pid } = await starter.held;
    const guest = hold(dataDirectory);
    assert.equal((await guest.held).adopted, true);
    await starter.leave();
    assert.ok(await isAlive(pid));
    assert.deepEqual(
      await withDatabase((await guest.held).url, (db) => count(db, "from pg_roles where false")),
      0,
    );
    await guest.leave();
    assert.equal(await isAlive(pid), false);
  });

  it("serves one that comes while the last one leaves", async () => {
    let server = await start(dataDirectory);
    for (let round = 0; round < 5; round++) {
      const [next] = await Promise.all([start(dataDirectory), server.close()]);
      assert.equal(
        await withDatabase(next.url("gatehouse"), (db) => count(db, "from pg_roles where false")),
        0,
      );
      server = next;
    }
    await server.close();
    assert.equal(await server.pid(), undefined);
  });

  it("loses no acknowledged row when it is killed under writes, and is started again by who uses it", async () => {
    const server = await start(dataDirectory, true);
    const url = server.url("gatehouse");
    await withDatabase(url, (db) => db.raw("create table t (id int primary key)"));
    const acknowledged: number[] = [];
    const db = openDatabase(url);
    let next = 0;
    let stopped = false;
    const writer = async () => {
      while (!stopped) {
        const id = (next += 1);
        try {
          await db("t").insert({ id });
          acknowledged.push(id);
        } catch (error) {
          assert.ok(isUnavailable(error), String(error));
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    };
    const writers = [1, 2, 3, 4].map(writer);
    for (let round = 0; round < 3; round++) {
      const before = acknowledged.length;
      await eventually("some writes", () => acknowledged.length > before + 50);
      const pid = await eventually("a server", () => server.pid());
      process.kill(pid, "SIGKILL");
      await eventually("another server", async () => ![undefined, pid].includes(await server.pid()));
    }
    const before = acknowledged.length;
    await eventually("writes again", () => acknowledged.length > before + 50);
    stopped = true;
    await Promise.all(writers);
    await closeDatabase(db);
    const kept = new Set(await rows(url));
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
    );
    await server.close();
    assert.equal(await server.pid(), undefined);
  });

  for (const [what, script] of [
    ["another program by now", "exec cat"],
    // the shell, which could wait for its child, has become a program that does not
    ["one that has ended and was not waited for", "sleep 600 & echo $!; exec cat"],
  ] as const) {
    it(`starts though the file of a killed server names a process that is ${what}`, async () => {
      const server = await start(dataDirectory);
      const url = server.url("gatehouse");
      await withDatabase(url, (db) => db.raw("create table t (id int); insert into t values (1)"));
      const pid = (await server.pid())!;
      const file = await readFile(pidFile(), "utf8");
      const owner = await ownerOf(pidFile());
      process.kill(pid, "SIGKILL");
      await eventually("its end", async () => !(await isAlive(pid)));
      // as the same user: the server itself takes any process of its user for a server
      const other = spawn("/bin/sh", ["-c", script], {
        ...owner,
        cwd: "/",
        stdio: ["pipe", "pipe", "ignore"],
      });
      try {
        let named = other.pid!;
        if (script.includes("echo")) {
          named = Number(String((await once(other.stdout, "data"))[0]));
          other.stdin.write("cat says it again");
          await once(other.stdout, "data");
          process.kill(named, "SIGKILL");
          await eventually("its end", async () => !(await isAlive(named)));
          process.kill(named, 0);
        }
        await writeFile(pidFile(), file.replace(/^\d+/, String(named)));
        const again = await start(dataDirectory);
        assert.equal(again.adopted, false);
        assert.deepEqual(await rows(again.url("gatehouse")), [1]);
        await again.close();
        assert.ok(await isAlive(other.pid!));
      } finally {
        other.kill("SIGKILL");
      }
    });
  }

  it("starts after a first start that was killed half way", async () => {
    const holder = hold(dataDirectory);
    const postgres = join(dataDirectory, "postgres");
    await eventually("a cluster in the making", async () =>
      (await readdir(postgres)).some((name) => name.startsWith("cluster.")),
    );
    await holder.kill9();
    assert.ok(!(await readdir(postgres)).includes("cluster"));
    const server = await start(dataDirectory);
    assert.equal(server.adopted, false);
    assert.deepEqual((await readdir(postgres)).sort(), ["cluster", "lib", "postgres.log", "socket"]);
    await server.close();
  });

  it("works where the path is too long for a socket, or has characters that mean something", async () => {
    for (const name of ["x".repeat(120), "a 'quoted', \"odd\" %41 näme"]) {
      const folder = join(dataDirectory, name);
      const first = await start(folder);
      const second = await start(folder);
      assert.equal(second.adopted, true);
      assert.equal(
        await withDatabase(second.url("gatehouse"), (db) => count(db, "from pg_roles where false")),
        0,
      );
      const socket = new URL(first.url("gatehouse")).searchParams.get("host")!;
      assert.match(socket, /^\/tmp\/gatehouse-[0-9a-f]{24}$/);
      await first.close();
      await second.close();
      // fails when a file is left in it
      await rmdir(socket);
    }
  });

  it("says what is wrong with data of another release, and with a server that does not start", async () => {
    const server = await start(dataDirectory);
    await server.close();
    const data = join(dataDirectory, "postgres", "cluster", "data");
    const version = await readFile(join(data, "PG_VERSION"), "utf8");
    await writeFile(join(data, "PG_VERSION"), "17\n");
    await assert.rejects(
      start(dataDirectory),
      /belong to PostgreSQL 17, but this is PostgreSQL 18: export them/,
    );
    await writeFile(join(data, "PG_VERSION"), version);
    await writeFile(join(data, "postgresql.conf"), "no_such_setting = 1\n");
    await assert.rejects(start(dataDirectory), /^Error: PostgreSQL did not start: .*no_such_setting/s);
  });

  it("refuses a folder whose link leads nowhere", async () => {
    await mkdir(dataDirectory, { recursive: true });
    await symlink(join(dataDirectory, "gone"), join(dataDirectory, "postgres"));
    await assert.rejects(start(dataDirectory), /is a broken link/);
  });
});

async function ownerOf(file: string): Promise<{ uid: number; gid: number } | Record<string, never>> {
  if (process.getuid?.() !== 0) return {};
  const { uid, gid } = await stat(file);
  return { uid, gid };
}
