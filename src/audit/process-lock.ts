import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { errorCode } from "../runtime/error-code.ts";

/** A lock file that stands for a living process. */
export interface ProcessLock {
  release(): void;
}

/** Whom a lock belongs to. */
interface Holder extends Owner {
  /** No two locks have the same. */
  readonly claim: string;
}
interface Owner {
  readonly host: string;
  readonly pid: number;
  /** When the process began, as the kernel counts; ids of processes are used again. */
  readonly started: string;
}

/** Of a process on another host only this tells that it lives: its lock is touched so often ... */
const TOUCH_MS = 10_000;
/** ... and taken for dead after so long. */
const STALE_MS = 60_000;

/**
 * Takes the lock, also from a process that has died without releasing it.
 *
 * @returns `undefined` where a living process, this one included, has it
 * @throws the file system's error
 */
export function takeProcessLock(path: string): ProcessLock | undefined {
  const claim = randomUUID();
  const holder: Holder = { host: hostname(), pid: process.pid, started: startOf(process.pid) ?? "", claim };
  const text = JSON.stringify(holder);
  const file = `${path}.${claim}`;
  // complete before it has its name: nobody ever reads half of it
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
      // it is only for other hosts, and tried again
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
 * Renaming hands a lock to exactly one of those who find it stale. Should it turn out to be a newer one, taken between
 * the look and the renaming, it is put back.
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
 * When a process began, in ticks since the machine did: field 22 of proc_pid_stat(5). Empty where there is no such file
 * system: then its id alone counts.
 *
 * @returns `undefined` for a process that has ended, though nobody may have asked for its exit code yet
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
