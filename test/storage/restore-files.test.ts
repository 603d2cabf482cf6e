import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  appendFile,
  chmod,
  mkdir,
  open,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  backupManifest,
  copyDurably,
  copyTree,
  type BackupManifest,
} from "../../src/storage/backup-files.ts";
import { copyData, readListed } from "../../src/storage/restore-files.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);

describe("the files of a backup", () => {
  let folder: string;
  let source: string;
  let manifest: Pick<BackupManifest, "folders" | "files">;

  beforeEach(async () => {
    folder = await temporaryDirectory();
    const data = join(folder, "data");
    await mkdir(join(data, "base/1"), { recursive: true });
    await mkdir(join(data, "pg_notify"));
    await writeFile(join(data, "base/1/2"), "rows".repeat(1_000_000));
    await writeFile(join(data, "empty"), "");
    await writeFile(join(data, "left out"), "x");
    source = join(folder, "backup");
    await mkdir(source);
    const copied = await copyTree(data, join(source, "data"), (path) => path !== "left out");
    const inData = (path: string) => join("data", path);
    manifest = {
      folders: copied.folders.map(inData),
      files: copied.files.map((file) => ({ ...file, path: inData(file.path) })),
    };
  });

  const restored = async () => {
    const to = join(folder, "restored");
    const made: string[] = [];
    await mkdir(to);
    await copyData(
      source,
      manifest,
      (path) => join(to, path),
      (path) => {
        made.push(path);
        return Promise.resolve();
      },
    );
    assert.equal(made.length, manifest.folders.length + manifest.files.length);
    return to;
  };

  it("are copied as they were, for their owner alone, with folders that were lost because they are empty", async () => {
    await chmod(join(source, "data/base/1/2"), 0o666);
    await rm(join(source, "data/pg_notify"), { recursive: true });
    const to = await restored();
    assert.equal(await readFile(join(to, "data/base/1/2"), "utf8"), "rows".repeat(1_000_000));
    assert.equal((await stat(join(to, "data/base/1/2"))).mode & 0o777, 0o600);
    assert.equal((await stat(join(to, "data/pg_notify"))).mode & 0o777, 0o700);
    assert.equal((await stat(join(to, "data/empty"))).size, 0);
    await assert.rejects(stat(join(to, "data/left out")), { code: "ENOENT" });
  });

  it("are refused if one is missing, cut short, longer, changed, or no file", async () => {
    const file = join(source, "data/base/1/2");
    const content = await readFile(file);
    const damages: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
      [() => truncate(file, 8_192), /`.*base\/1\/2` has 8192 bytes instead of 4000000/],
      [() => appendFile(file, "x"), /has 4000001 bytes instead of 4000000/],
      [() => writeFile(file, content.with(17, 0)), /has another content than when it was written/],
      [() => rm(file), /lacks `data\/base\/1\/2`: it is not a whole backup/],
      [() => rm(file).then(() => symlink("/dev/zero", file)), /is not a file/],
      [() => rm(file).then(() => run("mkfifo", [file])), /is not a file/],
      [
        () =>
          rm(join(source, "data/base"), { recursive: true }).then(() =>
            writeFile(join(source, "data/base"), ""),
          ),
        /lacks `data\/base\/1\/2`/,
      ],
    ];
    for (const [damage, message] of damages) {
      await rm(join(source, "data/base"), { recursive: true });
      await mkdir(join(source, "data/base/1"), { recursive: true });
      await writeFile(file, content);
      await damage();
      await assert.rejects(restored(), message);
      await rm(join(folder, "restored"), { recursive: true });
    }
    await assert.rejects(readListed(source, manifest, "encryption.key"), /lacks `encryption.key`/);
  });

  it("are nowhere but in the backup", () => {
    const whole = { format: 2, taken_at: "2026-03-01T12:00:00Z", postgres: 18, encryption_key: false };
    const parse = (path: string) =>
      backupManifest.safeParse({
        ...whole,
        folders: [path],
        files: [{ path, size: 0, sha256: "0".repeat(64) }],
      }).success;
    assert.ok(parse("data/base/1/2"));
    for (const path of ["", "/etc/x", "..", "../x", "data/../../x", "data//x", "data/.", "data/\0"])
      assert.equal(parse(path), false, JSON.stringify(path));
  });

  it("are never readable by others, not even while they are copied", async () => {
    const pipe = join(folder, "pipe");
    await run("mkfifo", ["-m", "666", pipe]);
    const to = join(folder, "copy");
    const copying = copyDurably(pipe, to);
    const mode = async () => {
      const found = await stat(to).catch(() => undefined);
      return found && found.mode & 0o777;
    };
    // opens when the other end does
    const writer = await open(pipe, "w");
    try {
      await writer.writeFile("secret");
      await eventually("the copy to begin", async () => (await mode()) !== undefined);
      assert.equal(await mode(), 0o600, "before it is whole");
    } finally {
      await writer.close();
    }
    assert.equal((await copying)?.size, 6);
    assert.equal((await stat(to)).mode & 0o777, 0o600);
    await assert.rejects(copyDurably(join(source, "data/empty"), to), { code: "EEXIST" });
    assert.equal(await copyDurably(join(folder, "none"), join(folder, "other")), undefined);
  });
});
