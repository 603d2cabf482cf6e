import assert from "node:assert/strict";
import { existsSync, mkdirSync, watch, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { backUp, restore, startEmbeddedPostgres } from "../../src/storage/index.ts";
import { openHome } from "../../src/storage/postgres-home.ts";
import { databaseDirectory } from "../support/temporary-directory.ts";

const log = { info: () => undefined, warn: () => undefined };
const KEY = `${Buffer.alloc(32, 1).toString("base64")}\n`;
const OTHER_KEY = `${Buffer.alloc(32, 2).toString("base64")}\n`;

describe("storage: a control plane that starts while its data directory is restored", () => {
  let source: string;
  let dataDirectory: string;
  let keyFile: string;
  let home: string;

  before(async () => {
    const original = await databaseDirectory();
    const server = await startEmbeddedPostgres({ dataDirectory: original, databases: [], log });
    try {
      const originalKey = join(original, "encryption.key");
      await writeFile(originalKey, KEY);
      source = join(original, "backup");
      await backUp({ dataDirectory: original, target: source, keyFile: originalKey, log });
    } finally {
      await server.close();
    }
  });
  beforeEach(async () => {
    dataDirectory = await databaseDirectory();
    keyFile = join(dataDirectory, "encryption.key");
    home = (await openHome(dataDirectory, log)).path;
  });
  afterEach(() => rm(dataDirectory, { recursive: true, force: true }));

  /** Restores, and does something else as soon as files are copied. */
  async function restoreWhile(work: () => void): Promise<unknown> {
    let begun = false;
    const watcher = watch(home, (_event, name) => {
      if (begun || name?.startsWith("cluster.") !== true) return;
      begun = true;
      work();
    });
    try {
      return await restore({ source, dataDirectory, keyFile, log });
    } finally {
      watcher.close();
      assert.ok(begun, "nothing was seen of the restore");
    }
  }
  /** As a start makes it. */
  const makeCluster = () => {
    mkdirSync(join(home, "cluster", "data"), { recursive: true });
    writeFileSync(join(home, "cluster", "data", "PG_VERSION"), "18\n");
  };
  const left = async () => (await readdir(dataDirectory)).concat(await readdir(home)).filter(isPartial);
  const isPartial = (name: string) => /^(?:cluster|encryption\.key)\./.test(name);

  it("keeps its key and its database", async () => {
    const restoring = restoreWhile(() => {
      writeFileSync(keyFile, OTHER_KEY);
      makeCluster();
    });
    await assert.rejects(restoring, /has a database already/);
    assert.equal(await readFile(keyFile, "utf8"), OTHER_KEY);
    assert.deepEqual(await readdir(join(home, "cluster", "data")), ["PG_VERSION"]);
    assert.deepEqual(await left(), []);
  });

  it("keeps its key, of which it has yet to make the database", async () => {
    const restoring = restoreWhile(() => {
      writeFileSync(keyFile, OTHER_KEY);
    });
    await assert.rejects(restoring, /is another encryption key than the backup's/);
    assert.equal(await readFile(keyFile, "utf8"), OTHER_KEY);
    assert.equal(existsSync(join(home, "cluster")), false);
    assert.deepEqual(await left(), []);
  });

  it("keeps the backup's key, if it began with that", async () => {
    // its database appears after the last look: this one cannot be seen, only met
    await mkdir(join(home, "cluster", "data"), { recursive: true });
    await assert.rejects(
      restoreWhile(() => undefined),
      /has a database already/,
    );
    assert.equal(await readFile(keyFile, "utf8"), KEY);
    assert.deepEqual(await left(), []);
  });

  it("may have the backup's key: what is restored has it, too", async () => {
    await restoreWhile(() => {
      writeFileSync(keyFile, KEY);
    });
    assert.equal(await readFile(keyFile, "utf8"), KEY);
    assert.ok(existsSync(join(home, "cluster", "data", "PG_VERSION")));
  });
});
