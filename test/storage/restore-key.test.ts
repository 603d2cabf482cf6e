import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeKeyAway } from "../../src/storage/restore-key.ts";

describe("restore: the key of a restore that has failed", () => {
  let directory: string;
  let keyFile: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-restore-key-"));
    keyFile = join(directory, "encryption.key");
    await writeFile(keyFile, "the backup's\n");
  });
  afterEach(() => rm(directory, { recursive: true }));

  const left = async () =>
    Promise.all(
      (await readdir(directory)).map(async (name) => [name, await readFile(join(directory, name), "utf8")]),
    );

  it("goes, so that another backup can be restored", async () => {
    await takeKeyAway(keyFile, () => Promise.resolve(false));
    assert.deepEqual(await left(), []);
  });

  it("stays, if a control plane has made databases meanwhile and may have read it", async () => {
    await takeKeyAway(keyFile, () => Promise.resolve(true));
    assert.deepEqual(await left(), [["encryption.key", "the backup's\n"]]);
  });

  it("is away before databases are looked for, and never replaces one that was made meanwhile", async () => {
    await takeKeyAway(keyFile, async () => {
      await writeFile(keyFile, "its own\n", { flag: "wx" });
      return true;
    });
    assert.deepEqual(await left(), [["encryption.key", "its own\n"]]);
  });

  it("may be gone already", async () => {
    await rm(keyFile);
    await takeKeyAway(keyFile, () => Promise.resolve(false));
    assert.deepEqual(await left(), []);
  });
});
