import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { errorCode } from "../runtime/error-code.ts";

/** A lock file that belongs to a live process. */
export interface ProcessLock {
  release(): void;
}

/** The owner of a lock. */
interface Holder extends Owner {
  /** Unique per lock. */
  readonly claim: string;
}
interface Owner {
  readonly host: string;
  readonly pid: number;
  /** Start time of the process in the kernel's ticks, because process ids are reused. */
  readonly started: string;
}

/** The only sign of life of a process on another host: it touches its lock this often ... */
const TOUCH_MS = 10_000;
/** ... and counts as dead after this long without. */
const STALE_MS = 60_000;

/**
 * Acquires the lock, also from a process that has died without releasing it.
 *
 * @returns `undefined` if a live process (possibly this one) holds it
 * @throws the file system's error
 */
export function takeProcessLock(path: string): ProcessLock | undefined {
  const claim = randomUUID();
  const holder: Holder = { host: hostname(), pid: process.pid, started: startOf(process.pid) ?? "", claim };
  const text = JSON.stringify(holder);
  const file = `${path}.${claim}`;
  // written completely before it gets its name: nobody reads a partial file
  writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  try {
    if (!linkIfFree(file, path) && !(removeStale(path) && linkIfFree(file, path))) return undefined;
    return held(path, text);
  } finally {
    unlinkSync(file);
  }
}

function held(path: string, text: string): ProcessLock {
  const isOurs = () => readIfThere(path) === text;
  const touch = () => {
    const now = new Date();
    try {
      if (isOurs()) utimesSync(path, now, now);
    } catch {
      // only other hosts need it, and it is retried
    }
  };
  // eslint-disable-next-line no-restricted-globals -- one call of the file system, which catches its error
  const timer = setInterval(touch, TOUCH_MS).unref();
  return {
    release() {
      clearInterval(timer);
      if (isOurs()) unlinkSync(path);
    },
  };
}

/**
 * Renaming gives a lock to exactly one of the processes that consider it stale. If it turns out to be a newer one, acquired
 * between the check and the rename, it is put back.
 */
function removeStale(path: string): boolean {
  const touched = statSync(path, { throwIfNoEntry: false });
  const found = readIfThere(path);
  if (touched === undefined || found === undefined) return true;
  if (isAlive(readOwner(found), touched.mtimeMs)) return false;
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return true;
    throw error;
  }
  const isStale = readIfThere(aside) === found;
  if (!isStale) linkIfFree(aside, path);
  unlinkSync(aside);
  return isStale;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function readOwner(text: string): Owner | undefined {
  try {
    const owner: unknown = JSON.parse(text);
    return isOwner(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(owner: Owner | undefined, touchedAt: number): boolean {
  if (owner?.host !== hostname()) return Date.now() - touchedAt < STALE_MS;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (errorCode(error) === "ESRCH") return false;
  }
  return startOf(owner.pid) === owner.started;
}

/**
 * Start time of a process, in ticks since boot: field 22 of proc_pid_stat(5). Empty if there is no such file system; then only
 * the process id counts.
 *
 * @returns `undefined` for a process that has ended, even if it is still a zombie
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return statSync("/proc/self/stat", { throwIfNoEntry: false }) === undefined ? "" : undefined;
  }
}

function isOwner(value: unknown): value is Owner {
  if (typeof value !== "object" || value === null) return false;
  const { host, pid, started } = value as Partial<Record<keyof Owner, unknown>>;
  return typeof host === "string" && Number.isInteger(pid) && Number(pid) > 0 && typeof started === "string";
}

function linkIfFree(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}
