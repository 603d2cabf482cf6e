import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, stat, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { writeError, type WriteResult } from "./destination.ts";
import { takeProcessLock, type ProcessLock } from "./process-lock.ts";

export interface SpoolOptions {
  /** A separate folder; created if missing. */
  readonly directory: string;
  /** Maximum size, in bytes. */
  readonly maxBytes: number;
}

/** The oldest lines, which are delivered first. */
export interface SpooledLines {
  readonly segment: string;
  /** Each with its newline. */
  readonly lines: readonly string[];
}

interface Segment {
  readonly name: string;
  /** Its acknowledged size: bytes beyond it do not count. */
  size: number;
  /** Open while lines are appended to it. */
  file?: FileHandle;
}

const SUFFIX = ".ndjson";
const DIGITS = 12;
const NAME = /^\d{12}-[0-9a-f]{8}\.ndjson$/;
/** Records contain personal data, and nobody else needs to read the spool. */
const MODE = 0o600;
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;

/** A segment is closed when it is longer than this. */
const SEGMENT_BYTES = 1024 * 1024;

/** File of rejected lines, for the operator to inspect; lines beyond this size are not kept. */
const REJECTED = "rejected.log";
const REJECTED_BYTES = 16 * 1024 * 1024;

/** Another live process uses the folder. */
export class SpoolLockedError extends Error {
  readonly code = "SPOOL_LOCKED";
}

/**
 * Keeps lines in files until they can be delivered: in order, bounded, and on disk before they count. The files are
 * segments, named in order, that are appended to, closed, read as a whole and removed as a whole. Whenever a process dies,
 * it leaves a prefix of what it wrote; an incomplete last line was never acknowledged and is cut off. Segments that were read
 * but not removed are read again.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #lock: ProcessLock;
  /** Oldest first; only the last one has an open file. */
  readonly #segments: Segment[];
  #last: number;
  #bytes: number;
  /** Serializes appending to and closing segments. */
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(options: SpoolOptions, lock: ProcessLock, segments: Segment[]) {
    this.#options = options;
    this.#lock = lock;
    this.#segments = segments;
    this.#last = Number(segments.at(-1)?.name.slice(0, DIGITS) ?? 0);
    this.#bytes = segments.reduce((bytes, { size }) => bytes + size, 0);
  }

  /**
   * Opens the folder, including what an earlier process has left in it.
   *
   * @throws SpoolLockedError, or the file system's error
   */
  static async open(options: SpoolOptions): Promise<Spool> {
    const { directory } = options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const lock = takeProcessLock(join(directory, "lock"));
    if (lock === undefined) throw new SpoolLockedError(`another process uses the spool ${directory}`);
    try {
      const names = (await readdir(directory)).filter((name) => NAME.test(name)).sort();
      const segments: Segment[] = [];
      for (const name of names) segments.push({ name, size: (await stat(join(directory, name))).size });
      return new Spool(options, lock, segments);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Size on disk, including lines that are being delivered. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0;
  }

  /** Like a destination's `write`: lines that it reports as written are on disk. */
  append(lines: readonly string[]): Promise<WriteResult> {
    return this.#inTurn(() => this.#append(lines));
  }

  /**
   * @returns the oldest lines; `undefined` if there are none
   * @throws the file system's error
   */
  async oldest(): Promise<SpooledLines | undefined> {
    for (;;) {
      const segment = this.#segments[0];
      if (segment === undefined) return undefined;
      await this.#inTurn(() => this.#closeSegment(segment));
      // closing removes an empty segment
      if (segment !== this.#segments[0]) continue;
      const lines = await this.#read(segment);
      if (lines.length > 0) return { segment: segment.name, lines };
      await this.remove(segment.name);
    }
  }

  /** @returns `undefined` if there is only an incomplete line, or the file was removed by someone else */
  async #read({ name, size }: Segment): Promise<readonly string[]> {
    try {
      const bytes = await readFile(join(this.#options.directory, name));
      const text = bytes.toString("latin1", 0, size);
      // whatever follows the last newline is an incomplete line
      return text.split(/(?<=\n)/).filter((line) => line.endsWith("\n"));
    } catch (error) {
      if (writeError(error).code === "ENOENT") return [];
      throw error;
    }
  }

  /** Removes lines that were delivered. */
  async remove(name: string): Promise<void> {
    const segment = this.#segments[0];
    if (segment?.name !== name) return;
    await unlink(join(this.#options.directory, name)).catch((error: unknown) => {
      if (writeError(error).code !== "ENOENT") throw error;
    });
    this.#segments.shift();
    this.#bytes -= segment.size;
  }

  /** Keeps a rejected line in a separate file. Best effort. */
  async setAside(line: string): Promise<void> {
    const path = join(this.#options.directory, REJECTED);
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
    const file = await open(path, flags, MODE).catch(() => undefined);
    try {
      if (file === undefined || (await file.stat()).size + line.length > REJECTED_BYTES) return;
      await file.appendFile(line, "latin1");
    } catch {
      // a line that is lost here has been logged with its id
    } finally {
      await file?.close().catch(() => undefined);
    }
  }

  /** Releases the folder; its content stays for the next process. */
  async close(): Promise<void> {
    await this.#inTurn(async () => {
      this.#closed = true;
      const last = this.#segments.at(-1);
      if (last !== undefined) await this.#closeSegment(last);
    });
    this.#lock.release();
  }

  async #append(lines: readonly string[]): Promise<WriteResult> {
    if (this.#closed)
      return { written: 0, error: { busy: false, code: "SPOOL_CLOSED", message: "the spool is closed" } };
    const room = this.#options.maxBytes - this.#bytes;
    const { taken, bytes } = whatFits(lines, room);
    const full = {
      busy: false,
      code: "SPOOL_FULL",
      message: `the spool is full (${this.#options.maxBytes} bytes)`,
    };
    if (taken.length === 0) return { written: 0, error: full };
    let segment: Segment | undefined;
    try {
      segment = await this.#openSegment();
      await segment.file?.appendFile(taken.join(""), "latin1");
      await segment.file?.datasync();
    } catch (error) {
      // after a failure it is unknown what is on disk beyond the acknowledged part (fsync(2)): start a new file
      if (segment !== undefined) await this.#closeSegment(segment);
      return { written: 0, error: writeError(error) };
    }
    segment.size += bytes;
    this.#bytes += bytes;
    if (segment.size >= SEGMENT_BYTES) await this.#closeSegment(segment);
    return { written: taken.length, ...(taken.length < lines.length && { error: full }) };
  }

  /** The last segment, or a new one. */
  async #openSegment(): Promise<Segment> {
    const last = this.#segments.at(-1);
    if (last?.file !== undefined) return last;
    this.#last += 1;
    // no process writes to another's file, even if a lock fails
    const suffix = randomBytes(4).toString("hex");
    const name = `${String(this.#last).padStart(DIGITS, "0")}-${suffix}${SUFFIX}`;
    const file = await open(join(this.#options.directory, name), FLAGS, MODE);
    const segment = { name, size: 0, file };
    this.#segments.push(segment);
    try {
      await syncDirectory(this.#options.directory);
    } catch (error) {
      await this.#closeSegment(segment);
      throw error;
    }
    return segment;
  }

  /** Closes the segment and cuts off what was not acknowledged. Never rejects. */
  async #closeSegment(segment: Segment): Promise<void> {
    const { file } = segment;
    if (file === undefined) return;
    delete segment.file;
    // if this fails, the rest is skipped on reading, or delivered twice after a crash
    await file.truncate(segment.size).catch(() => undefined);
    await file.close().catch(() => undefined);
    if (segment.size > 0) return;
    await unlink(join(this.#options.directory, segment.name)).catch(() => undefined);
    this.#segments.splice(this.#segments.indexOf(segment), 1);
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(step);
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

/** The longest prefix of `lines` that fits. */
function whatFits(lines: readonly string[], room: number): { taken: readonly string[]; bytes: number } {
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    if (bytes + line.length > room) break;
    bytes += line.length;
    count += 1;
  }
  return { taken: lines.slice(0, count), bytes };
}

/** A new directory entry is durable only after an fsync of its folder (fsync(2)). */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
