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

/** One server: starts it, checks whether it is running, and stops it, regardless of which process started it. */
export interface Postmaster {
  readonly home: Home;
  readonly binaries: Binaries;
  readonly cluster: Cluster;
  /** Settings that take precedence over postgresql.conf. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Launched {
  /** Set once it has exited. */
  readonly ended: () => boolean;
  /** What it has written to its log. */
  readonly said: () => Promise<string>;
}

/** Only part of the socket's name: nothing listens on TCP. */
export const PORT = 5432;
const LOG_BYTES = 10 * 1024 * 1024;
const SAID_BYTES = 4096;
const POLL_MS = 20;
const STOP_MS = 60_000;

/** Starts the server; connect to find out whether it serves. It keeps running when this process exits for any reason. */
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
      // its own session: Ctrl-C is only for us
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

/** The id of the server's process, if there is one. */
export async function runningPid(data: string): Promise<number | undefined> {
  const pid = firstLine(await pidFile(data));
  return pid !== undefined && (await isAlive(pid)) && !(await isAnother(pid, data)) ? pid : undefined;
}

/**
 * Stops the server in fast mode: current transactions are rolled back, connections closed, everything written.
 *
 * @returns false if it has not exited within a minute.
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
    // it has exited by itself
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
 * After a crash, the id in the server's pid file may belong to another process, or to a zombie. A new server would mistake
 * either for a running server and not start, so the file is moved away.
 */
async function setStaleFileAside(data: string): Promise<void> {
  const seen = await pidFile(data);
  if (seen === undefined || (await runningPid(data)) !== undefined) return;
  const path = join(data, "postmaster.pid");
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => undefined);
  // another process may have replaced it with that of a running server
  if ((await readFile(aside, "utf8").catch(() => seen)) !== seen)
    await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Whether the process is certainly not a server of these data, by its command line. */
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
