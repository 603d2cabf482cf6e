import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { provideDatabases, startEmbeddedPostgres } from "../../src/storage/index.ts";
import type { DatabaseLocation } from "../../src/storage/index.ts";
import { emptyDatabase } from "../support/database.ts";
import { databaseDirectory } from "../support/temporary-directory.ts";
import { folderOf, gatehouse } from "../cli/support.ts";

const COMMAND = fileURLToPath(new URL("support/migrate-command.ts", import.meta.url));
const names = readdirSync(fileURLToPath(new URL("../../migrations", import.meta.url)))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .sort()
  .join(", ");
const count = names.split(", ").length;
const quiet = { info: () => undefined, warn: () => undefined };

function run(location: DatabaseLocation, ...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [COMMAND, JSON.stringify(location), ...parameters],
    { encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

describe("storage: the command migrate", () => {
  it("migrates both embedded databases, and stops the server it has started", async () => {
    const dataDirectory = await databaseDirectory();
    const location = { dataDirectory };
    const todo = `production: ${count} pending: ${names}\nsandbox: ${count} pending: ${names}\n`;
    assert.deepEqual(run(location, "--status"), { status: 1, stdout: todo, stderr: "" });
    const production = `production: ${count} applied: ${names}\n`;
    assert.deepEqual(run(location, "--environment", "production"), {
      status: 0,
      stdout: production,
      stderr: "",
    });
    const all = `production: up to date\nsandbox: ${count} applied: ${names}\n`;
    assert.deepEqual(run(location), { status: 0, stdout: all, stderr: "" });
    const status = "production: up to date\nsandbox: up to date\n";
    assert.deepEqual(run(location, "--status", "--environment", "all"), {
      status: 0,
      stdout: status,
      stderr: "",
    });
    const server = await startEmbeddedPostgres({
      dataDirectory,
      databases: [],
      log: quiet,
      keepRunning: false,
    });
    assert.equal(server.adopted, false);
    await server.close();
  });

  it("finds the databases by the configuration that it is given, as the control plane does", async () => {
    const production = await emptyDatabase();
    const dataDirectory = await databaseDirectory();
    const folder = await folderOf({
      "gateway.yaml": "database: { url: postgres://127.0.0.1:1/nobody }\n",
      "control.yaml": `database: { url: ${JSON.stringify(production.url)} }\n`,
      "data.yaml": "api: { data_directory: elsewhere }\n",
    });
    const ask = (...args: string[]) =>
      gatehouse(["migrate", "--status", "--environment", "production", ...args], { cwd: folder.path });
    const todo = `production: ${count} pending: ${names}\n`;
    try {
      assert.deepEqual(await ask("--config", "control.yaml"), { code: 1, stdout: todo, stderr: "" });
      assert.equal((await ask()).stdout, "");
      assert.deepEqual(await ask("--config", "none.yaml").then(({ code }) => code), 2);
      assert.equal((await ask("-c", "data.yaml", "--data-dir", dataDirectory)).stdout, todo);
      assert.deepEqual(readdirSync(folder.path).sort(), ["control.yaml", "data.yaml", "gateway.yaml"]);
      assert.deepEqual(readdirSync(dataDirectory), ["postgres"]);
    } finally {
      await Promise.all([production.close(), folder.remove()]);
    }
  });

  it("migrates databases of a server by their URLs, without an embedded one", async () => {
    const [production, sandbox] = await Promise.all([emptyDatabase(), emptyDatabase()]);
    const dataDirectory = await databaseDirectory();
    try {
      const location = { url: production.url, sandboxUrl: sandbox.url, dataDirectory };
      const stdout = `sandbox: ${count} applied: ${names}\n`;
      assert.deepEqual(run(location, "--environment", "sandbox"), { status: 0, stdout, stderr: "" });
      assert.equal(await production.db.schema.hasTable("schema_migrations"), false);
      assert.deepEqual(readdirSync(dataDirectory), []);
      await sandbox.db("schema_migrations").insert({ name: "9999-later", checksum: "" });
      const { status, stderr } = run(location, "--environment", "sandbox");
      assert.equal(status, 1);
      assert.match(
        stderr,
        /^sandbox: the database is newer than this program: since 9999-later it needs a version that knows migration 9999 /,
      );
    } finally {
      await Promise.all([production.close(), sandbox.close()]);
    }
  });

  it("says in a line what is wrong, without a password", () => {
    const url = "postgresql://u:s3cr3t@127.0.0.1:1/d";
    const { status, stderr } = run({ url, dataDirectory: "/nowhere" }, "--environment", "production");
    assert.equal(status, 1);
    assert.equal(stderr, "production: connect ECONNREFUSED 127.0.0.1:1\n");
  });

  it("refuses one database for production and sandbox, however it is written", async () => {
    const provide = (url: string, sandboxUrl: string) =>
      provideDatabases({ url, sandboxUrl, dataDirectory: "/nowhere" }, ["production"], quiet);
    const same = /^Error: production and sandbox use the same database/;
    await assert.rejects(provide("postgres://a:b@h/d", "postgresql://c@h:5432/d?sslmode=require"), same);
    await assert.rejects(
      provide("postgres:///d?host=/run/x", "postgres://u@localhost/d?host=%2Frun%2Fx"),
      same,
    );
    await (await provide("postgres://a:b@h/d", "postgres://a:b@h/e")).close();
    await (await provide("postgres://a:b@h/d", "postgres://a:b@h:5433/d")).close();
  });
});
