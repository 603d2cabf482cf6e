import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, realpath, rmdir, stat, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "../runtime/error-code.ts";

/** The user that the server runs as; empty: our own user. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The folder of a PostgreSQL's data, sockets and secrets, and the user that it runs as. */
export interface Home {
  /** Without symbolic links. */
  readonly path: string;
  readonly user: ServerUser;
}

/** Folder of root's data if the server's user cannot reach the data directory. */
const SYSTEM_DIRECTORY = "/var/lib/gatehouse";

/**
 * Opens the folder `postgres` of the data directory, or creates it. PostgreSQL refuses to run as root, so it runs as another
 * user, which cannot reach a folder below e.g. `/root`: then the data are in `/var/lib/gatehouse`, and `postgres` is a link to
 * them.
 *
 * @throws Error that says what to do, if the folder belongs to another user or is not usable.
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
    throw new Error(`\`${entry}\` is a broken link; remove it to start without data`, {
      cause: error,
    });
  });
  const { uid } = await stat(path);
  if (uid !== me) {
    throw new Error(
      `\`${entry}\` belongs to user ${uid}, but this is user ${me}: ` +
        "run gatehouse as that user, or with another data directory",
    );
  }
  if (me !== 0) return { path, user: {} };
  const user = await userOfData(path);
  if (!(await reaches(user, path))) {
    throw new Error(`\`${path}\` is not accessible to user ${String(user.uid)}, which PostgreSQL runs as`);
  }
  return { path, user };
}

async function make(
  entry: string,
  folder: string,
  me: number,
  log: { info(message: string): void },
): Promise<void> {
  // root's folder can be traversed, because the server runs as another user; its content is protected separately
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
    `the database is in \`${elsewhere}\`: PostgreSQL does not run as root, and no other user can reach \`${folder}\``,
  );
}

/** @returns whether this process created it. */
async function orThere(made: Promise<unknown>): Promise<boolean> {
  try {
    await made;
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** The user that the data belong to, even if the machine has new users since. */
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
    "PostgreSQL does not run as root, and neither the user `postgres` nor the user `nobody` exists; " +
      "run gatehouse as another user, or set DATABASE_URL and SANDBOX_DATABASE_URL",
  );
}

async function idOf(what: "-u" | "-g", name: string): Promise<number> {
  const { stdout } = await promisify(execFile)("id", [what, name]);
  return Number(stdout.trim());
}

/** Asks the kernel instead of checking permission bits, because of access lists, mounts and security modules. */
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
