import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, realpath, rmdir, stat, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "../runtime/error-code.ts";

/** Whom the server runs as; empty: as ourselves. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Where one PostgreSQL has its data, sockets and secrets, and whom it runs as. */
export interface Home {
  /** Without symbolic links. */
  readonly path: string;
  readonly user: ServerUser;
}

/** What root's data go to where the data directory is out of reach for the user of the server. */
const SYSTEM_DIRECTORY = "/var/lib/gatehouse";

/**
 * Opens the folder `postgres` of the data directory, or makes it. PostgreSQL refuses to run as root and runs as another
 * user then, which cannot reach a folder below e.g. `/root`: the data go to `/var/lib/gatehouse` in that case, and
 * `postgres` is a link to them.
 *
 * @throws Error with what to do, where the folder is another user's or cannot be used.
 */
export async function openHome(dataDirectory: string, log: { info(message: string): void }): Promise<Home> {
  const folder = resolve(dataDirectory);
  const entry = join(folder, "postgres");
  if (process.getuid === undefined) {
    throw new Error("the embedded PostgreSQL needs Unix; set DATABASE_URL and SANDBOX_DATABASE_URL instead");
  }
  const me = process.getuid();
  await mkdir(folder, { recursive: true });
  if (!(await exists(entry))) await make(entry, folder, me, log);
  const path = await realpath(entry).catch((error: unknown) => {
    throw new Error(`${entry} leads nowhere: what it is a link to is gone; remove it to start with no data`, {
      cause: error,
    });
  });
  const { uid } = await stat(path);
  if (uid !== me) {
    throw new Error(
      `${entry} belongs to user ${uid}, and this is user ${me}: ` +
        "run gatehouse as that user, or with a data directory of its own",
    );
  }
  if (me !== 0) return { path, user: {} };
  const user = await userOfData(path);
  if (!(await reaches(user, path))) {
    throw new Error(`${path} cannot be reached by user ${String(user.uid)}, as which PostgreSQL runs`);
  }
  return { path, user };
}

async function make(
  entry: string,
  folder: string,
  me: number,
  log: { info(message: string): void },
): Promise<void> {
  // root's is open for passing through, for the server is another user; what lies in it is closed by itself
  const mode = me === 0 ? 0o711 : 0o700;
  if (me !== 0 || (await reaches(await unprivilegedUser(), folder))) {
    await orThere(mkdir(entry, { mode }));
    await chmod(entry, mode);
    return;
  }
  const elsewhere = join(SYSTEM_DIRECTORY, `postgres-${randomBytes(8).toString("hex")}`);
  await mkdir(elsewhere, { recursive: true });
  await chmod(SYSTEM_DIRECTORY, 0o711);
  await chmod(elsewhere, 0o711);
  if (!(await orThere(symlink(elsewhere, entry)))) {
    await rmdir(elsewhere);
    return;
  }
  log.info(
    `the database is in ${elsewhere}: PostgreSQL does not run as root, and no other user can reach ${folder}`,
  );
}

/** @returns whether this process was the one that made it. */
async function orThere(made: Promise<unknown>): Promise<boolean> {
  try {
    await made;
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Whom the data belong to, whichever users the machine has got since. */
async function userOfData(path: string): Promise<ServerUser> {
  try {
    const { uid, gid } = await stat(join(path, "cluster", "data"));
    return { uid, gid };
  } catch {
    return unprivilegedUser();
  }
}

async function unprivilegedUser(): Promise<ServerUser> {
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([idOf("-u", name), idOf("-g", name)]);
      if (uid > 0 && gid > 0) return { uid, gid };
    } catch {
      // there is no such user
    }
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is neither a user `postgres` nor a user `nobody`; " +
      "run gatehouse as another user, or set DATABASE_URL and SANDBOX_DATABASE_URL",
  );
}

async function idOf(what: "-u" | "-g", name: string): Promise<number> {
  const { stdout } = await promisify(execFile)("id", [what, name]);
  return Number(stdout.trim());
}

/** Asks the kernel rather than permission bits: there are access lists, mounts and security modules. */
async function reaches(user: ServerUser, folder: string): Promise<boolean> {
  try {
    await promisify(execFile)("/bin/sh", ["-c", 'cd -- "$1"', "sh", folder], { ...user, cwd: "/" });
    return true;
  } catch {
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
