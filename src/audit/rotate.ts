import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { errorCode } from "../runtime/error-code.ts";

/** A rotation takes milliseconds: a lock older than this was left by a process that died. */
const STALE_AFTER_MS = 10_000;

/**
 * Renames `path` to `path.1`, `path.1` to `path.2`, and so on up to the first free number; `path.<maxFiles>` is
 * overwritten. If several processes try at once, one succeeds: the others find the lock taken, or another file at the path.
 *
 * Synchronous on purpose: it is rare, it is only a few renames, and nothing else in this process may run in between.
 *
 * @param inode - of the file that is too big; a different inode at the path means that it has already been rotated
 * @returns whether the file at `path` is now a different one
 * @throws the file system's error
 */
export function rotate(path: string, maxFiles: number, inode: number): boolean {
  const lock = `${path}.lock`;
  const held = takeLock(lock);
  if (held === undefined) return false;
  try {
    const current = statSync(path, { throwIfNoEntry: false });
    if (current?.ino !== inode) return true;
    let last = 1;
    while (last < maxFiles && existsSync(`${path}.${last}`)) last++;
    for (let i = last - 1; i >= 1; i--) renameSync(`${path}.${i}`, `${path}.${i + 1}`);
    renameSync(path, `${path}.1`);
    return true;
  } finally {
    releaseLock(lock, held);
  }
}

/** The inode of the acquired lock; undefined if another process holds it. */
function takeLock(lock: string): number | undefined {
  return createLock(lock) ?? (breakStaleLock(lock) ? createLock(lock) : undefined);
}

function createLock(lock: string): number | undefined {
  try {
    const fd = openSync(lock, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    const { ino } = fstatSync(fd);
    closeSync(fd);
    return ino;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    throw error;
  }
}

/**
 * Renaming gives a lock file to exactly one of the processes that consider it stale. If it turns out to be a newer one,
 * acquired between the check and the rename, it is put back.
 */
function breakStaleLock(lock: string): boolean {
  const found = statSync(lock, { throwIfNoEntry: false });
  if (found === undefined) return true;
  if (Date.now() - found.mtimeMs < STALE_AFTER_MS) return false;
  const aside = `${lock}.${process.pid}`;
  if (!renameIfThere(lock, aside)) return true;
  const taken = statSync(aside);
  const stale = taken.ino === found.ino && taken.mtimeMs === found.mtimeMs;
  if (!stale) linkIfFree(aside, lock);
  unlinkSync(aside);
  return stale;
}

function releaseLock(lock: string, inode: number): void {
  if (statSync(lock, { throwIfNoEntry: false })?.ino === inode) unlinkSync(lock);
}

function renameIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function linkIfFree(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
