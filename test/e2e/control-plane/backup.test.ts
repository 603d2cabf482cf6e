import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, readdir, rm, rmdir, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { databaseDirectory } from "../../support/temporary-directory.ts";

const CLI = fileURLToPath(new URL("../../../bin/gatehouse.js", import.meta.url));
const run = promisify(execFile);
const runIn = async (directory: string, ...args: string[]) =>
  (await run(process.execPath, [CLI, ...args], { cwd: directory })).stdout;
const filesIn = async (folder: string) =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const API = { ...PRODUCTION_ONLY, rate_limits: { management: 1_000_000 } };

describe("end to end: a backup of a control plane that goes on writing", function () {
  this.timeout(300_000);
  let plane: ControlPlaneProcess;
  let key: string;
  let backup: string;
  const acknowledged: string[] = [];
  /** How many had been acknowledged when the backup began. */
  let atLeast = 0;

  before(async () => {
    plane = await startControlPlaneProcess({ config: { api: API } });
    key = await plane.createKey("production", "full_access");
    const call = apiClient(plane.url.production, key);
    let running = true;
    const write = async (writer: number) => {
      for (let n = 0; running; n += 1) {
        const name = `customer ${writer}-${n}`;
        const { status } = await call("POST", "/customers", { name });
        if (status === 201) acknowledged.push(name);
      }
    };
    const writing = Promise.all([0, 1, 2, 3].map(write));
    while (acknowledged.length < 50) await new Promise((resolve) => setTimeout(resolve, 20));
    atLeast = acknowledged.length;
    backup = join(plane.directory, "backup");
    const said = await plane.cli("backup", backup, "--config", "gateway.yaml");
    assert.match(said, /everything committed before 2\d{3}-.*\nIt contains the encryption key/);
    running = false;
    await writing;
  });
  after(() => plane.stop());

  /** Restores into another place, and what the API there has. */
  async function restored(source: string) {
    const directory = await databaseDirectory();
    const yaml = await readFile(join(plane.directory, "gateway.yaml"), "utf8");
    await writeFile(
      join(directory, "gateway.yaml"),
      yaml.replaceAll(join(plane.directory, "data"), join(directory, "data")),
    );
    const said = await runIn(directory, "restore", source, "--config", "gateway.yaml");
    return { said, directory };
  }
  it("holds all that was acknowledged before it began, whole, when the original is lost", async () => {
    assert.ok(acknowledged.length > atLeast, "nothing was written meanwhile");
    const mode = (await stat(backup)).mode & 0o777;
    assert.equal(mode, 0o700);
    const { said, directory } = await restored(backup);
    assert.match(said, /^restored to /m);
    await plane.kill();
    const second = await startControlPlaneProcess({ config: { api: API }, directory });
    try {
      // the key of the lost one
      const call = apiClient(second.url.production, key);
      const names = new Set<string>();
      for (let page = 1; ; page += 1) {
        const { body } = await call("GET", `/customers?limit=100&page=${page}`);
        const { data } = body as { data: { name: string }[] };
        for (const { name } of data) names.add(name);
        if (data.length < 100) break;
      }
      for (const name of acknowledged.slice(0, atLeast)) assert.ok(names.has(name), name);
      const known = new Set(acknowledged);
      // the last ones of each writer may have been committed without an answer
      assert.ok([...names].filter((name) => !known.has(name)).length <= 4);
      const { body } = await call("GET", "/audit/logs?kind=change&action=customer.created&limit=1");
      const { pagination } = body as { pagination: { total_items: number } };
      assert.equal(pagination.total_items, names.size, "each has its record, and no record is of another");
      assert.equal((await call("POST", "/customers", { name: "after" })).status, 201);
    } finally {
      await second.stop();
    }
  });

  it("is restored over nothing, and is not written over anything", async () => {
    const loose = join(plane.directory, "loose");
    await cp(backup, loose, { recursive: true });
    for (const file of await filesIn(loose)) await chmod(file, 0o666);
    const { directory } = await restored(loose);
    const [data, cluster] = [join(directory, "data"), join(directory, "data/postgres/cluster")];
    for (const file of [join(data, "encryption.key"), ...(await filesIn(cluster))])
      assert.equal((await stat(file)).mode & 0o777, 0o600, `${file}, after permissions were lost on the way`);
    for (const [args, message] of [
      [["restore", backup, "--config", "gateway.yaml"], /has a database already/],
      [
        ["restore", directory, "--config", "gateway.yaml", "--data-dir", "elsewhere"],
        /is not a whole backup/,
      ],
      [["backup", backup, "--config", "gateway.yaml"], /exists: name a new folder/],
      [["backup", "new", "--config", "gateway.yaml", "--data-dir", "nowhere"], /no embedded database in/],
    ] as const)
      await assert.rejects(runIn(directory, ...args), (error: { code: number; stderr: string }) => {
        assert.equal(error.code, 1);
        assert.match(error.stderr, message);
        assert.doesNotMatch(error.stderr, /\n\s+at /);
        return true;
      });
    assert.deepEqual(
      (await readdir(directory)).filter((name) => name.includes("partial")),
      [],
    );
  });

  it("is refused if it is damaged, of another PostgreSQL, or meets another key", async () => {
    const damaged = join(plane.directory, "damaged");
    const fails = async (
      change: () => Promise<unknown>,
      message: RegExp,
      prepare?: (to: string) => Promise<unknown>,
    ) => {
      await rm(damaged, { recursive: true, force: true });
      await cp(backup, damaged, { recursive: true });
      await change();
      const directory = await databaseDirectory();
      const data = join(directory, "data");
      await prepare?.(data);
      await assert.rejects(
        runIn(directory, "restore", damaged, "--data-dir", data),
        (error: { stderr: string }) => {
          assert.match(error.stderr, message);
          return true;
        },
      );
      // nothing looks like a database: the next restore may use the place, with a key of its own
      await assert.rejects(stat(join(data, "postgres/cluster")), { code: "ENOENT" });
      if (prepare === undefined) await assert.rejects(stat(join(data, "encryption.key")), { code: "ENOENT" });
    };
    const rewrite = async (change: (manifest: Record<string, unknown>) => void) => {
      const path = join(damaged, "backup.json");
      const manifest = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
      change(manifest);
      await writeFile(path, JSON.stringify(manifest));
    };
    await fails(() => rewrite((manifest) => (manifest["postgres"] = 12)), /the backup is of PostgreSQL 12/);
    await fails(() => rewrite((manifest) => (manifest["format"] = 1)), /cannot be read by this version/);
    await fails(() => rm(join(damaged, "passwords.json")), /lacks `passwords.json`/);
    await fails(() => rm(join(damaged, "data/pg_wal"), { recursive: true }), /lacks `data\/pg_wal\//);
    const { files } = JSON.parse(await readFile(join(backup, "backup.json"), "utf8")) as {
      files: { path: string; size: number }[];
    };
    const table =
      files.find(({ path, size }) => /^data\/base\/\d+\/\d+$/.test(path) && size > 8_192)?.path ?? "";
    await fails(() => truncate(join(damaged, table), 8_192), /has 8192 bytes instead of \d+/);
    const otherKey = async (data: string) => {
      await mkdir(data, { recursive: true });
      await chmod(data, 0o711);
      await writeFile(join(data, "encryption.key"), `${Buffer.alloc(32, 7).toString("base64")}\n`);
    };
    await fails(() => Promise.resolve(), /is another encryption key than the backup's/, otherKey);
  });

  it("is restored where empty folders were lost on the way", async () => {
    const sparse = join(plane.directory, "sparse");
    await cp(backup, sparse, { recursive: true });
    const folders = (await readdir(sparse, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isDirectory(),
    );
    for (const { parentPath, name } of folders) {
      const folder = join(parentPath, name);
      if ((await readdir(folder)).length === 0) await rmdir(folder);
    }
    assert.match((await restored(sparse)).said, /^restored to /m);
  });

  it("is for embedded databases only", async () => {
    const directory = await databaseDirectory();
    await writeFile(join(directory, "gateway.yaml"), "database: { url: 'postgres://127.0.0.1/other' }\n");
    await assert.rejects(
      runIn(directory, "backup", "new", "--config", "gateway.yaml"),
      (error: { code: number; stderr: string }) => {
        assert.equal(error.code, 2);
        assert.match(error.stderr, /pg_dump/);
        return true;
      },
    );
  });
});
