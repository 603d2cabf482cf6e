import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { locate, prepareBinaries } from "../../src/storage/postgres-binaries.ts";
import { openHome } from "../../src/storage/postgres-home.ts";
import { databaseDirectory } from "../support/temporary-directory.ts";

describe("storage: binaries of PostgreSQL", () => {
  const said: string[] = [];
  const log = { info: (message: string) => said.push(message) };
  beforeEach(() => {
    said.length = 0;
  });

  /** A copy of the installed package, as npm unpacks it without scripts: there are no links. */
  async function installed(): Promise<{ native: string; version: string }> {
    const { native, version } = await locate();
    const copy = join(await databaseDirectory(), "native");
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    for (const entry of await readdir(join(copy, "lib"), { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(join(copy, "lib", entry.name));
    }
    return { native: copy, version };
  }

  async function versionOf({ initdb, env }: { initdb: string; env: Readonly<Record<string, string>> }) {
    const { stdout } = await promisify(execFile)(initdb, ["--version"], { env, cwd: "/" });
    return stdout;
  }

  it("run where they are, without a change to their folder", async () => {
    const source = await installed();
    const home = await openHome(await databaseDirectory(), log);
    const binaries = await prepareBinaries(home, log, source);
    assert.equal(binaries.postgres, join(source.native, "bin", "postgres"));
    assert.equal(binaries.major, 18);
    assert.match(await versionOf(binaries), /PostgreSQL/);
    assert.deepEqual(await readdir(home.path), ["lib"]);
    assert.equal((await readdir(join(source.native, "lib"))).includes("libpq.so.5"), false);
    assert.deepEqual(said, []);
  });

  it("are linked anew after they have moved", async () => {
    const home = await openHome(await databaseDirectory(), log);
    const first = await installed();
    await prepareBinaries(home, log, first);
    const second = await installed();
    await rm(first.native, { recursive: true });
    assert.match(await versionOf(await prepareBinaries(home, log, second)), /PostgreSQL/);
    for (const name of await readdir(join(home.path, "lib"))) {
      assert.ok((await readlink(join(home.path, "lib", name))).startsWith(second.native), name);
    }
  });

  it("are copied where they cannot be executed, once", async () => {
    const source = await installed();
    for (const name of ["postgres", "initdb"]) await chmod(join(source.native, "bin", name), 0o644);
    const home = await openHome(await databaseDirectory(), log);
    const [one, two] = await Promise.all([
      prepareBinaries(home, log, source),
      prepareBinaries(home, log, source),
    ]);
    assert.deepEqual(one, two);
    assert.ok(one.postgres.startsWith(join(home.path, `postgresql-${source.version}`)));
    assert.match(await versionOf(one), /PostgreSQL/);
    assert.match(said[0] ?? "", /^copying PostgreSQL to /);
    assert.deepEqual((await readdir(home.path)).sort(), ["lib", `postgresql-${source.version}`]);
    said.length = 0;
    await prepareBinaries(home, log, source);
    assert.deepEqual(said, []);
  });

  it("say what to do when they do not run on this machine", async () => {
    const source = { native: join(await databaseDirectory(), "native"), version: "0" };
    await mkdir(join(source.native, "bin"), { recursive: true });
    await writeFile(join(source.native, "pg-symlinks.json"), "[]");
    for (const name of ["postgres", "initdb"]) await writeFile(join(source.native, "bin", name), "\x7fELF");
    const home = await openHome(await databaseDirectory(), log);
    await assert.rejects(
      prepareBinaries(home, log, source),
      /^Error: the embedded PostgreSQL does not run on this machine \(.*\); set DATABASE_URL and SANDBOX_/s,
    );
  });

  if (process.getuid?.() === 0) {
    it("are copied where the user of the server cannot reach them", async () => {
      const source = await installed();
      // as npm leaves it under a narrow umask
      await promisify(execFile)("chmod", ["-R", "go=", source.native]);
      const home = await openHome(await databaseDirectory(), log);
      const binaries = await prepareBinaries(home, log, source);
      assert.ok(binaries.postgres.startsWith(join(home.path, `postgresql-${source.version}`)));
      assert.match(await versionOf(binaries), /PostgreSQL/);
    });
  }
});
