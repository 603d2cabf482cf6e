import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, readFile, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "../runtime/error-code.ts";
import { syncPath, writeDurably } from "./backup-files.ts";
import type { Binaries } from "./postgres-binaries.ts";
import type { Home } from "./postgres-home.ts";
import { isAlive } from "./process-state.ts";

/** A server's data on disk, and how to connect to it. */
export interface Cluster {
  /** PostgreSQL's data directory. */
  readonly data: string;
  readonly socketDirectory: string;
  readonly passwords: Passwords;
}

interface Passwords {
  /** Password of the superuser, which only the supervisor uses. */
  readonly admin: string;
  /** Password of the role that owns the databases. */
  readonly application: string;
}

export const ADMIN = "postgres";

/** Every connection needs a password; the server listens only on the Unix socket. */
const ACCESS = "# TYPE DATABASE USER METHOD\nlocal all all scram-sha-256\n";

/** Written to postgresql.conf once; they may be changed there. */
const SETTINGS = [
  ["shared_buffers", "128MB"],
  ["max_connections", "100"],
  ["password_encryption", "scram-sha-256"],
  ["timezone", "UTC"],
  ["log_timezone", "UTC"],
  ["log_checkpoints", "off"],
  // the detail of an error contains values of rows
  ["log_error_verbosity", "terse"],
] as const;

/** `sun_path` of unix(7) has 108 bytes, the last of which is NUL. */
const MAX_SOCKET_PATH = 107;

/**
 * Opens the cluster of this home, or creates it: in another folder that is then renamed, so that an interrupted start leaves
 * nothing that looks like a cluster, and only one of several starts wins.
 *
 * @throws Error if the data belong to another major version of PostgreSQL.
 */
export async function openCluster(home: Home, binaries: Binaries): Promise<Cluster> {
  const folder = join(home.path, "cluster");
  const data = join(folder, "data");
  const found = await readVersion(data);
  if (found === undefined) await create(home, folder, binaries);
  else if (found !== binaries.major) {
    throw new Error(
      `the data in \`${data}\` belong to PostgreSQL ${found}, but this is PostgreSQL ${binaries.major}: ` +
        "export them with the version that created them and import them into a new data directory",
    );
  }
  const passwords = JSON.parse(await readFile(join(folder, "passwords.json"), "utf8")) as Passwords;
  return { data, passwords, socketDirectory: await socketDirectory(home, passwords.admin) };
}

/** Whether the data directory has an embedded database. */
export async function hasCluster(dataDirectory: string): Promise<boolean> {
  const home = join(resolve(dataDirectory), "postgres");
  return (await readVersion(join(home, "cluster", "data"))) !== undefined;
}

/** @throws Error if a start would create new data */
export async function assertHasCluster(dataDirectory: string): Promise<void> {
  const home = join(resolve(dataDirectory), "postgres");
  if (!(await hasCluster(dataDirectory)))
    throw new Error(
      `no embedded database in \`${home}\`: pass its data directory, or run \`gatehouse control-plane\` once to create it`,
    );
}

async function readVersion(data: string): Promise<number | undefined> {
  try {
    return Number(await readFile(join(data, "PG_VERSION"), "utf8"));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function create(home: Home, folder: string, binaries: Binaries): Promise<void> {
  await sweep(home.path);
  const fresh = join(home.path, `cluster.${process.pid}.${randomBytes(4).toString("hex")}`);
  try {
    const passwords = {
      admin: randomBytes(32).toString("hex"),
      application: randomBytes(32).toString("hex"),
    };
    await mkdir(fresh);
    await chmod(fresh, home.user.uid === undefined ? 0o700 : 0o711);
    await initialize(home, fresh, passwords.admin, binaries);
    await writeDurably(join(fresh, "passwords.json"), JSON.stringify(passwords));
    await writeDurably(join(fresh, "data", "pg_hba.conf"), ACCESS);
    await rename(fresh, folder);
    await syncPath(home.path);
  } catch (error) {
    // another process was faster
    if (!["ENOTEMPTY", "EEXIST"].includes(errorCode(error) ?? "")) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function initialize(home: Home, fresh: string, password: string, binaries: Binaries): Promise<void> {
  const data = join(fresh, "data");
  const passwordFile = join(fresh, "password");
  await mkdir(data, { mode: 0o700 });
  await writeDurably(passwordFile, `${password}\n`);
  await give(home, data);
  await give(home, passwordFile);
  const parameters = [
    ...["--pgdata", data, "--username", ADMIN, "--pwfile", passwordFile],
    ...["--auth-local", "scram-sha-256", "--auth-host", "scram-sha-256"],
    // letters of every language, in an order that system updates do not change
    ...["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"],
    ...["--data-checksums", "--no-instructions"],
    ...SETTINGS.flatMap(([name, value]) => ["--set", `${name}=${value}`]),
  ];
  try {
    await promisify(execFile)(binaries.initdb, parameters, { ...home.user, cwd: "/", env: binaries.env });
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
    throw new Error(
      `could not create the embedded database in \`${home.path}\`: ${said}; ` +
        "set DATABASE_URL and SANDBOX_DATABASE_URL to use an external one",
      { cause: error },
    );
  }
  await rm(passwordFile);
}

/** Removes what interrupted starts have left. */
async function sweep(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const [, pid] = /^cluster\.(\d+)\.[0-9a-f]+$/.exec(name) ?? [];
    if (pid === undefined || (await isAlive(Number(pid)))) continue;
    // an initdb that is still running may be writing to it, which must not prevent the start
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined);
  }
}

/**
 * A folder that only the server's user and root may enter: beside the data, or below /tmp if that path is too long for a
 * socket. The name is the same for every process that has the password, and nobody else can predict it.
 */
async function socketDirectory(home: Home, secret: string): Promise<string> {
  const beside = join(home.path, "socket");
  // the server parses a list, in which some characters are special
  const plain = /^[\w./-]+$/.test(beside);
  const fits = Buffer.byteLength(join(beside, ".s.PGSQL.00000.lock")) <= MAX_SOCKET_PATH;
  const name = createHash("sha256").update(`${secret}:${home.path}`).digest("hex").slice(0, 24);
  const folder = plain && fits ? beside : `/tmp/gatehouse-${name}`;
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
  const me = process.getuid?.();
  const { uid, mode } = await lstat(folder).then((entry) => {
    if (!entry.isDirectory()) throw new Error(`${folder} is not a folder`);
    return entry;
  });
  if ((uid !== me && uid !== home.user.uid) || (mode & 0o077) !== 0) {
    throw new Error(`\`${folder}\` is accessible to other users or belongs to one; remove it`);
  }
  await give(home, folder);
  return folder;
}

async function give({ user }: Home, path: string): Promise<void> {
  if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid);
}
