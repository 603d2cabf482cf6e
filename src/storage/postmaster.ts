import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, rename, rm, link, stat } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../runtime/sleep.ts";
import type { Cluster } from "./postgres-cluster.ts";
import type { Binaries } from "./postgres-binaries.ts";
import type { Home } from "./postgres-home.ts";
import { commandLine, isAlive } from "./process-state.ts";

/** One server: how to start it, to see whether it runs, and to stop it, whichever process has started it. */
export interface Postmaster {
  readonly home: Home;
  readonly binaries: Binaries;
  readonly cluster: Cluster;
  /** Settings that come before those of postgresql.conf. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Launched {
  /** Set once it has ended. */
  readonly ended: () => boolean;
  /** What it has written to its log. */
  readonly said: () => Promise<string>;
}

/** Only a name: nothing listens on TCP, and it is part of the socket's. */
export const PORT = 5432;
const LOG_BYTES = 10 * 1024 * 1024;
const SAID_BYTES = 4096;
const POLL_MS = 20;
const STOP_MS = 60_000;

/** Starts the server; whether it serves is seen by connecting. It goes on when this process ends, however that happens. */
export async function launch({ home, binaries, cluster, settings }: Postmaster): Promise<Launched> {
  await setStaleFileAside(cluster.data);
  const file = join(home.path, "postgres.log");
  const size = await stat(file).then(
    (entry) => entry.size,
    () => 0,
  );
  if (size > LOG_BYTES) await rename(file, `${file}.1`);
  const log = await open(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    const from = (await log.stat()).size;
    const parameters = {
      ...settings,
      listen_addresses: "",
      unix_socket_directories: cluster.socketDirectory,
      unix_socket_permissions: "0700",
      port: String(PORT),
      logging_collector: "off",
    };
    const child = spawn(
      binaries.postgres,
      [
        "-D",
        cluster.data,
        ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      ],
      // a session of its own: Ctrl-C is for us
      { ...home.user, cwd: "/", env: binaries.env, stdio: ["ignore", log.fd, log.fd], detached: true },
    );
    let ended = false;
    child.once("exit", () => (ended = true));
    child.once("error", () => (ended = true));
    child.unref();
    return { ended: () => ended, said: () => readFrom(file, from) };
  } finally {
    await log.close();
  }
}

/** The id of the server's process, where there is one. */
export async function runningPid(data: string): Promise<number | undefined> {
  const pid = firstLine(await pidFile(data));
  return pid !== undefined && (await isAlive(pid)) && !(await isAnother(pid, data)) ? pid : undefined;
}

/**
 * Stops the server fast: transactions under way are rolled back, connections closed, everything written.
 *
 * @returns false when it has not ended within a minute.
 */
export async function stopPostmaster(data: string): Promise<boolean> {
  const pid = await runningPid(data);
  if (pid === undefined) return true;
  signal(pid, "SIGINT");
  const end = Date.now() + STOP_MS;
  while (await isAlive(pid)) {
    if (Date.now() > end) return false;
    await sleep(POLL_MS);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended by itself
  }
}

function pidFile(data: string): Promise<string | undefined> {
  return readFile(join(data, "postmaster.pid"), "utf8").catch(() => undefined);
}

function firstLine(text: string | undefined): number | undefined {
  const [, pid] = /^(\d+)\n/.exec(text ?? "") ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * After a crash the id in the server's file may be that of another process, or of one that has ended and that nobody has
 * waited for. A new server would take either for a running one and not start, so that file is set aside.
 */
async function setStaleFileAside(data: string): Promise<void> {
  const seen = await pidFile(data);
  if (seen === undefined || (await runningPid(data)) !== undefined) return;
  const path = join(data, "postmaster.pid");
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => undefined);
  // another process may have put a server's in its place since
  if ((await readFile(aside, "utf8").catch(() => seen)) !== seen)
    await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Whether the process is certainly not a server of these data: its command line is another one. */
async function isAnother(pid: number, data: string): Promise<boolean> {
  return (await commandLine(pid))?.includes(data) === false;
}

async function readFrom(file: string, position: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SAID_BYTES), 0, SAID_BYTES, position);
    return buffer.toString("utf8", 0, bytesRead).trim();
  } finally {
    await handle.close();
  }
}
