import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, readFile, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Names the folder of a run to the processes that run test files side by side. */
const RUN_FOLDER = "GATEHOUSE_TEST_FOLDER";
/** The same for what lies in memory. */
const RUN_MEMORY = "GATEHOUSE_TEST_MEMORY";

/** What all databases of a run come to at one time, several times over. */
const ENOUGH_MEMORY = 4 * 1024 ** 3;

let own: Promise<string> | undefined;
let ownMemory: Promise<string> | undefined;

/** The folder that all processes of this run share, where there are several. */
export function sharedFolder(): string | undefined {
  return process.env[RUN_FOLDER];
}

/** Makes the folder that the processes which this one starts share; it is removed when this process ends. */
export async function shareFolder(): Promise<void> {
  process.env[RUN_FOLDER] = await guardedFolder();
  process.env[RUN_MEMORY] = await guardedFolder(await inMemory());
}

/** The environment for a process that is not to take part in this run. */
export function environmentOfItsOwn(): NodeJS.ProcessEnv {
  return { ...process.env, [RUN_FOLDER]: undefined, [RUN_MEMORY]: undefined };
}

/**
 * A folder that is removed when this process (or the one that started the run) ends, however it ends; a PostgreSQL whose
 * data directory it is (or whose data directory lies directly below it) is stopped then.
 */
export async function temporaryDirectory(): Promise<string> {
  return below(sharedFolder() ?? (await (own ??= guardedFolder())));
}

/** The same for databases: in memory where there is enough, for hundreds of files are written for each of them. */
export async function databaseDirectory(): Promise<string> {
  return below(sharedMemory() ?? (await (ownMemory ??= inMemory().then(guardedFolder))));
}

/** Where what all processes of this run share lies in memory, where there are several. */
export function sharedMemory(): string | undefined {
  return process.env[RUN_MEMORY];
}

async function below(parent: string): Promise<string> {
  const folder = join(parent, randomBytes(4).toString("hex"));
  await mkdir(folder);
  await chmod(folder, 0o711);
  return folder;
}

/** Linux has such a folder; PostgreSQL's programs may have to run from it. */
async function inMemory(): Promise<string> {
  const folder = "/dev/shm";
  try {
    const [{ bavail, bsize }, mounts] = await Promise.all([statfs(folder), readFile("/proc/mounts", "utf8")]);
    const [, options = "noexec"] = new RegExp(`^\\S+ ${folder} tmpfs (\\S+)`, "m").exec(mounts) ?? [];
    if (bavail * bsize >= ENOUGH_MEMORY && !options.split(",").includes("noexec")) return folder;
  } catch {
    // another system
  }
  return tmpdir();
}

/**
 * Makes the folder of a server's data, which the program itself would close to other users: as root it would find that
 * PostgreSQL's user cannot reach it, and keep the data in `/var/lib/gatehouse`, where nobody removes them.
 */
export async function makeDataDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o711);
}

/** Fails where the data of a server have gone elsewhere. */
export async function assertDataAreIn(path: string): Promise<void> {
  const found = await lstat(join(path, "postgres")).catch(() => undefined);
  if (found?.isSymbolicLink() === true)
    throw new Error(`the data are not in ${path}, and nobody would remove them`);
}

/** Waits until its stdin closes, which it does with our end, then stops every server below the folder and removes it. */
const GUARDIAN = `cat >/dev/null
for file in "$1"/*/postgres/cluster/data/postmaster.pid "$1"/*/*/postgres/cluster/data/postmaster.pid \\
  "$1"/*/.gatehouse/postgres/cluster/data/postmaster.pid; do
  read -r pid < "$file" || continue
  ps -o args= -p "$pid" | grep -qF "\${file%/*}" || continue
  kill -QUIT "$pid"
  i=0
  # its file goes last; the process may stay as a zombie where nobody waits for it
  while [ $i -lt 50 ] && [ -e "$file" ]; do sleep 0.1; i=$((i + 1)); done
  kill -KILL "$pid"
done
rm -rf "$1"`;

async function guardedFolder(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, "gatehouse-test-"));
  // PostgreSQL may run as another user
  await chmod(folder, 0o711);
  const guardian = spawn("/bin/sh", ["-c", GUARDIAN, "sh", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guardian.stdin.on("error", () => undefined);
  guardian.unref();
  // the pipe is not to keep mocha waiting either
  (guardian.stdin as unknown as { unref?: () => void }).unref?.();
  return folder;
}
