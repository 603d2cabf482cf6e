import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import express from "express";
import { healthRouter } from "../../src/control/health.ts";
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
