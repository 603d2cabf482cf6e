import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import express from "express";
import pg from "pg";
import { healthRouter } from "../../src/control/health.ts";
import { openReadiness } from "../../src/processes/control-plane/pools.ts";
import { closeDatabase, openDatabase, type Database } from "../../src/storage/index.ts";
import type { Log } from "../../src/telemetry/log.ts";
import { silentLog } from "../decision/support.ts";
import { privatePostgres, testDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

/** `/readyz` of the control plane stands on the API's port: it tells anybody why, and nobody where. */
describe("readiness of the control plane", () => {
  let database: TestDatabase;
  const closing: (() => Promise<unknown>)[] = [];

  before(async () => {
    database = await testDatabase();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  after(() => database.close());

  const readyzOf = async (db: Database, log: Log = silentLog) => {
    const server: Server = createServer(express().use(healthRouter({ db, log })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
    return async () => {
      const answer = await fetch(url);
      return { status: answer.status, text: await answer.text() };
    };
  };
  const dbOf = (url: string) => {
    const db = openDatabase(url);
    closing.push(() => closeDatabase(db));
    return db;
  };
  const changed = (change: (url: URL) => void) => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };
  const notReady = (detail: string) => ({
    status: 503,
    text: JSON.stringify({ status: "unavailable", checks: { database: { ok: false, detail } } }),
  });

  it("is good while the database answers", async () => {
    const ask = await readyzOf(database.db);
    assert.deepEqual(await ask(), {
      status: 200,
      text: '{"status":"ok","checks":{"database":{"ok":true,"detail":"it responds"}}}',
    });
  });

  it("says that nobody listens", async () => {
    const ask = await readyzOf(dbOf("postgres://gatehouse:s3cret@127.0.0.1:1/gatehouse"));
    assert.deepEqual(await ask(), notReady("the database refused the connection"));
  });

  it("says that its name leads nowhere", async () => {
    const ask = await readyzOf(dbOf("postgres://gatehouse:s3cret@db.internal.invalid/gatehouse"));
    assert.deepEqual(await ask(), notReady("cannot resolve the database's host"));
  });

  it("says that there is no such database", async () => {
    const ask = await readyzOf(dbOf(changed((url) => (url.pathname = "/nowhere"))));
    assert.deepEqual(await ask(), notReady("the database does not exist"));
  });

  it("says that the user is not let in", async () => {
    const ask = await readyzOf(dbOf(changed((url) => (url.username = "nobody"))));
    const { text } = await ask();
    assert.match(text, /the database rejected the user or the password/);
    assert.ok(!text.includes("nobody"));
  });

  it("says that it does not answer, before a load balancer gives up", async () => {
    // takes connections and says nothing
    const mute = createTcpServer((socket) => sockets.add(socket));
    const sockets = new Set<Socket>();
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => mute.close(resolve));
    });
    const ask = await readyzOf(
      dbOf(`postgres://u:s3cret@127.0.0.1:${(mute.address() as AddressInfo).port}/x`),
    );
    assert.deepEqual(await ask(), notReady("the database did not respond"));
  });

  it("keeps its connection where the server has none left, and gets another one when it is lost", async () => {
    const server = await privatePostgres({ max_connections: "12" });
    closing.push(() => server.close());
    const readiness = openReadiness({ environment: "production", url: server.url });
    closing.push(() => closeDatabase(readiness));
    const ask = await readyzOf(readiness);
    assert.equal((await ask()).status, 200);
    const others: pg.Client[] = [];
    closing.push(() => Promise.all(others.map((client) => client.end())));
    const takeAll = async () => {
      for (;;) {
        const client = new pg.Client({ connectionString: server.url });
        client.on("error", () => undefined);
        try {
          await client.connect();
        } catch (error) {
          assert.equal((error as { code?: string }).code, "53300");
          return;
        }
        others.push(client);
      }
    };
    await takeAll();
    const [first] = others;
    assert.ok(first);
    const backends = async () => {
      const { rows } = await first.query<{ pid: number }>(
        "select pid from pg_stat_activity where application_name = 'gatehouse production readiness'",
      );
      return rows.map(({ pid }) => pid);
    };
    const before = await backends();
    assert.equal(before.length, 1);
    // long after the last probe: the pool closes what has been idle for too long
    const { pool } = readiness.client as { pool: { idleTimeoutMillis: number; check(): void } };
    pool.idleTimeoutMillis = 0;
    pool.check();
    assert.equal((await ask()).status, 200);
    assert.deepEqual(await backends(), before);
    await first.query("select pg_terminate_backend($1)", before);
    await eventually("it is lost", async () => {
      await takeAll();
      return (await ask()).text === notReady("the database has no connections left").text;
    });
    await Promise.all(others.splice(0).map((client) => client.end()));
    await eventually("there is another one", async () => (await ask()).status === 200);
  });

  it("logs each problem once, and again when it comes back", async () => {
    const said: string[] = [];
    const error = (_fields: object | string, message?: string) => void said.push(message ?? "");
    const log: Log = { ...silentLog, error };
    const server = await privatePostgres();
    closing.push(() => server.close());
    const ask = await readyzOf(dbOf(server.url), log);
    assert.equal((await ask()).status, 200);
    await server.stop();
    await eventually("it is away", async () => (await ask()).status === 503);
    const away = await ask();
    assert.match(away.text, /"detail":"the database('s socket does not exist| refused the connection)"/);
    const before = said.length;
    for (let n = 0; n < 3; n += 1) assert.deepEqual(await ask(), away);
    assert.equal(said.length, before);
    await server.restart();
    await eventually("it is back", async () => (await ask()).status === 200);
    await server.stop();
    await eventually("it is away again", async () => (await ask()).status === 503);
    assert.ok(said.length > before);
    await server.restart();
  });
});
