import { constants } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { errorCode } from "../runtime/error-code.ts";
import { sleep } from "../runtime/sleep.ts";
import { flag, path, setting, size, wholeNumber } from "../setting-types.ts";
import { assertFileIsWritable } from "../startup/index.ts";
import {
  completeLines,
  destinationKind,
  pipeSlice,
  writeError,
  type Destination,
  type WriteResult,
} from "./destination.ts";
import { rotate } from "./rotate.ts";

export interface FileDestinationOptions {
  readonly path: string;
  /** The file is rotated before a batch that would exceed this size; each process may exceed it by one batch. */
  readonly maxBytes: number;
  /** Number of rotated files to keep: `path.1` (the newest) to `path.<maxFiles>`. */
  readonly maxFiles: number;
  /** Each batch is flushed to disk before it counts as written. */
  readonly sync?: boolean;
  /** Called if the file cannot be rotated. It then keeps growing: a long file is better than a lost record. */
  readonly onRotationFailed: (error: unknown) => void;
}

const NEWLINE = 0x0a;
/** How often to wait while another process rotates; after that, the file exceeds its size. */
const ROTATION_ATTEMPTS = 5;
const ROTATION_WAIT_MS = 4;

/** A file that ends within a line and has not grown for this long was left incomplete. */
const TORN_AFTER_MS = 30;
const LOOK_AGAIN_MS = 3;

/** Readable, to check how the file ends; non-blocking, in case the path is a FIFO without a reader. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/** Records contain personal data: readable for a log shipper in the group, but not for everybody on the machine. */
export const AUDIT_FILE_MODE = 0o640;

export const fileDestination = destinationKind({
  description: "the file `audit.path`, one JSON object per line",
  keys: {
    path: setting(path(), "audit.log", "The file, if the destination is `file`."),
    sync: setting(
      flag(),
      false,
      "If the destination is `file`: flush records to disk (fdatasync) before they count as written. Without it, a killed " +
        "process loses no written record, but a power failure may.",
    ),
    max_file_size: setting(size(1000, 1e12), "100MB", "Size at which the file is rotated."),
    max_files: setting(wholeNumber(1, 1000), 10, "Number of rotated files to keep."),
  },
  assertStartable: (settings) => assertFileIsWritable("audit.path", settings.path, AUDIT_FILE_MODE),
  open(settings, { log }) {
    let reported: unknown;
    return new FileDestination({
      path: settings.path,
      maxBytes: settings.max_file_size,
      maxFiles: settings.max_files,
      sync: settings.sync,
      onRotationFailed: (error) => {
        const code = errorCode(error);
        if (code !== reported) log.error({ err: error }, "could not rotate the audit file; it keeps growing");
        reported = code;
      },
    });
  },
});

/**
 * A file that several processes append to and rotate. Each write is one O_APPEND write of whole lines, which the kernel
 * does not interleave with others. Before each write the path is checked: if it now names another file (it was rotated,
 * moved or deleted), that one is opened.
 */
export class FileDestination implements Destination {
  readonly #options: FileDestinationOptions;
  #file: FileHandle | undefined;

  constructor(options: FileDestinationOptions) {
    this.#options = options;
  }

  async write(lines: readonly string[]): Promise<WriteResult> {
    try {
      return await this.#write(lines);
    } catch (error) {
      return { written: 0, error: writeError(error) };
    }
  }

  async #write(lines: readonly string[]): Promise<WriteResult> {
    const { file, isFile } = await this.#fileFor(lines);
    const slice = isFile ? lines : pipeSlice(lines);
    // A short write (the disk was full) of this process or another leaves a partial line: it is ended here, so that the
    // next record starts on a new line.
    const torn = isFile && (await endsWithinLine(file));
    const bytes = Buffer.from((torn ? "\n" : "") + slice.join(""), "latin1");
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, null);
    if (isFile && this.#options.sync === true) await file.datasync();
    const written = completeLines(slice, torn ? bytesWritten - 1 : bytesWritten);
    if (written > 0) return { written };
    const message = `short write: ${bytesWritten} of ${bytes.length} bytes`;
    return { written, error: { busy: false, code: "SHORT_WRITE", message } };
  }

  /** The file to write to: the one that the path names, or a new one if that would become too long. */
  async #fileFor(lines: readonly string[]): Promise<{ file: FileHandle; isFile: boolean }> {
    const length = lines.reduce((bytes, line) => bytes + line.length, 0);
    for (let attempt = 1; ; attempt++) {
      const file = await this.#current();
      const status = await file.stat();
      // it may also be a FIFO or a device
      const isFile = status.isFile();
      const fits = !isFile || status.size === 0 || status.size + length <= this.#options.maxBytes;
      if (fits || attempt > ROTATION_ATTEMPTS) return { file, isFile };
      try {
        if (!rotate(this.#options.path, this.#options.maxFiles, status.ino)) await sleep(ROTATION_WAIT_MS);
      } catch (error) {
        this.#options.onRotationFailed(error);
        return { file, isFile };
      }
    }
  }

  /** The file that the path names now. */
  async #current(): Promise<FileHandle> {
    const open = this.#file;
    if (open !== undefined) {
      if (await isNameOf(this.#options.path, open)) return open;
      await this.close();
    }
    return await this.#open();
  }

  async #open(): Promise<FileHandle> {
    this.#file = await open(this.#options.path, FLAGS, AUDIT_FILE_MODE);
    return this.#file;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // everything has been handed to the kernel: an error here loses nothing
    await file?.close().catch(() => undefined);
  }
}

async function isNameOf(path: string, file: FileHandle): Promise<boolean> {
  const [named, opened] = await Promise.all([stat(path).catch(() => undefined), file.stat()]);
  return named?.ino === opened.ino && named.dev === opened.dev;
}

/**
 * Whether the file permanently ends within a line. While another process writes, the file grows page by page and may end
 * anywhere for a moment; only a file that does not change was left incomplete.
 */
async function endsWithinLine(file: FileHandle): Promise<boolean> {
  let last = -1;
  let since = performance.now();
  for (;;) {
    const { size } = await file.stat();
    if (size === 0 || (await endsWithNewline(file, size))) return false;
    const now = performance.now();
    if (size === last && now - since > TORN_AFTER_MS) return true;
    if (size !== last) since = now;
    last = size;
    await sleep(LOOK_AGAIN_MS);
  }
}

async function endsWithNewline(file: FileHandle, size: number): Promise<boolean> {
  const last = Buffer.alloc(1);
  const { bytesRead } = await file.read(last, 0, 1, size - 1);
  // nothing to read: the file was truncated in the meantime
  return bytesRead === 0 || last[0] === NEWLINE;
}
