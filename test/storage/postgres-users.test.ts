import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { chmod, chown, lstat, mkdir, readFile, readdir, readlink, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/storage/index.ts";
import type { StorageLog } from "../../src/storage/index.ts";
import { databaseDirectory } from "../support/temporary-directory.ts";
import { endHolders, hold, otherUser } from "./support/processes.ts";
import type { User } from "./support/processes.ts";

const quiet = { info: () => undefined, warn: () => undefined };
const start = (dataDirectory: string, log: StorageLog = quiet) =>
  startEmbeddedPostgres({ dataDirectory, databases: ["gatehouse"], log, keepRunning: false });

async function everyFile(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.map((entry) => join(entry.parentPath, entry.name));
}

describe("storage: users of the machine and the embedded PostgreSQL", () => {
  let dataDirectory: string;
  beforeEach(async () => {
    dataDirectory = await databaseDirectory();
  });
  afterEach(async () => {
    await endHolders();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it("asks for the password, on the socket as the only door", async () => {
    const server = await start(dataDirectory);
    try {
      for (const [user, password] of [
        ["gatehouse", "wrong"],
        ["postgres", "wrong"],
        ["postgres", undefined],
      ]) {
        const url = new URL(server.url("gatehouse"));
        url.username = user!;
        url.password = password ?? "";
        const client = new pg.Client({ connectionString: url.href });
        await assert.rejects(client.connect(), /password/);
      }
      const pid = String(await server.pid());
      const { stdout } = await promisify(execFile)("ps", ["-o", "args=", "-p", pid]);
      assert.ok(!stdout.includes(new URL(server.url("gatehouse")).password));
      assert.match(stdout, /listen_addresses= /);
    } finally {
      await server.close();
    }
  });

  it("keeps everything that matters closed to others", async () => {
    const server = await start(dataDirectory);
    try {
      const home = join(dataDirectory, "postgres");
      for (const closed of ["socket", "cluster/data", "cluster/passwords.json", "postgres.log"]) {
        assert.equal((await stat(join(home, closed))).mode & 0o077, 0, closed);
      }
      // nothing but the links to libraries, folders to pass through and what lies in a closed folder
      for (const file of await everyFile(home)) {
        if (/^(lib|socket|cluster\/data)(\/|$)/.test(file.slice(home.length + 1))) continue;
        const { mode } = await lstat(file);
        assert.equal(mode & 0o066, 0, file);
      }
    } finally {
      await server.close();
    }
  });

  const [nobody, games] = [otherUser("nobody"), otherUser("games")];
  if (nobody === undefined || games === undefined) return;

  /** Runs a line of JavaScript as a user; its output. */
  async function as(user: User, script: string): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", script], { ...user, cwd: "/" });
    return stdout.trim();
  }

  it("runs as another user when started by root, and lets no third one in", async () => {
    const server = await start(dataDirectory);
    try {
      const { uid } = await stat(`/proc/${String(await server.pid())}`);
      assert.notEqual(uid, 0);
      const socket = join(dataDirectory, "postgres", "socket", ".s.PGSQL.5432");
      const connect = `require("net").connect(${JSON.stringify(socket)})
        .on("connect", () => { console.log("in"); process.exit(); }).on("error", (error) => console.log(error.code))`;
      assert.equal(await as({ uid: 0, gid: 0 }, connect), "in");
      assert.equal(await as(games, connect), "EACCES");
      const passwords = join(dataDirectory, "postgres", "cluster", "passwords.json");
      const read = `try { require("fs").readFileSync(${JSON.stringify(passwords)}); console.log("read"); }
        catch (error) { console.log(error.code); }`;
      assert.equal(await as({ uid: 0, gid: 0 }, read), "read");
      assert.equal(await as(games, read), "EACCES");
    } finally {
      await server.close();
    }
  });

  it("runs as who starts it when that is not root, and refuses the folder of another", async () => {
    await chown(dataDirectory, nobody.uid, nobody.gid);
    const holder = hold(dataDirectory, nobody);
    const { pid, error } = await holder.held;
    assert.equal(error, undefined);
    assert.equal((await stat(`/proc/${pid}`)).uid, nobody.uid);
    assert.equal((await stat(join(dataDirectory, "postgres"))).mode & 0o077, 0);
    const message = new RegExp(
      `belongs to user ${nobody.uid}, but this is user 0: run gatehouse as that user`,
    );
    await assert.rejects(start(dataDirectory), message);
    await holder.leave();

    const roots = await databaseDirectory();
    const server = await start(roots);
    assert.match((await hold(roots, games).held).error ?? "", /belongs to user 0, but this is user/);
    await server.close();
  });

  it("keeps the data elsewhere when root's data directory is out of reach, and says so", async () => {
    const closed = join(dataDirectory, "closed");
    await mkdir(closed);
    await chmod(closed, 0o700);
    const said: string[] = [];
    const log = { info: (message: string) => said.push(message), warn: () => undefined };
    const server = await start(closed, log);
    const place = await readlink(join(closed, "postgres"));
    try {
      assert.match(place, /^\/var\/lib\/gatehouse\/postgres-[0-9a-f]{16}$/);
      assert.match(
        said.join("\n"),
        /the database is in `\/var\/lib\/gatehouse\/postgres-.*`: PostgreSQL does not run as root/,
      );
      assert.equal((await readFile(join(place, "cluster", "data", "PG_VERSION"), "utf8")).trim(), "18");
      const again = await start(closed, log);
      assert.equal(again.adopted, true);
      await again.close();
      assert.equal(said.length, 1);
    } finally {
      await server.close();
      await rm(place, { recursive: true, force: true });
    }
  });
});
