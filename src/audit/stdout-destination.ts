import { fstatSync, write } from "node:fs";
import { isatty } from "node:tty";
import { promisify } from "node:util";
import {
  completeLines,
  destinationKind,
  pipeSlice,
  writeError,
  type Destination,
  type WriteResult,
} from "./destination.ts";

const STDOUT = 1;
const writeTo = promisify(write);

/** Standard output of any kind, shared with the other processes that inherited it. */
export const stdoutDestination = destinationKind({
  description: "standard output, one JSON object per line",
  keys: {},
  open: () => (isStream() ? new StreamDestination(process.stdout) : new RedirectedDestination()),
});

function isStream(): boolean {
  try {
    const status = fstatSync(STDOUT);
    return status.isFIFO() || status.isSocket() || isatty(STDOUT);
  } catch {
    return false;
  }
}

/**
 * A pipe, socket or terminal, written in slices that a pipe accepts atomically. It writes through the stream and not with
 * fs.write, which on a blocking descriptor would block a thread while nobody reads and even prevent the process from
 * exiting. Slices are written one at a time, so that the stream buffers no more than one.
 */
class StreamDestination implements Destination {
  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    stream.on("error", ignore);
  }

  write(lines: readonly string[]): Promise<WriteResult> {
    const slice = pipeSlice(lines);
    return new Promise((resolve) => {
      this.#stream.write(slice.join(""), "latin1", (error) => {
        resolve(error ? { written: 0, error: writeError(error) } : { written: slice.length });
      });
    });
  }

  close(): Promise<void> {
    this.#stream.off("error", ignore);
    return Promise.resolve();
  }
}

/** Errors of the stream are also passed to the callback of the failed write. */
function ignore(): void {
  return undefined;
}

/** A file or device to which the shell has redirected standard output. */
class RedirectedDestination implements Destination {
  /** The last write ended within a line. */
  #torn = false;

  async write(lines: readonly string[]): Promise<WriteResult> {
    try {
      const bytes = Buffer.from((this.#torn ? "\n" : "") + lines.join(""), "latin1");
      const { bytesWritten } = await writeTo(STDOUT, bytes, 0, bytes.length, null);
      const written = completeLines(lines, this.#torn ? bytesWritten - 1 : bytesWritten);
      if (bytesWritten > 0) this.#torn = bytes[bytesWritten - 1] !== 0x0a;
      if (written > 0) return { written };
      const message = `short write: ${bytesWritten} of ${bytes.length} bytes`;
      return { written, error: { busy: false, code: "SHORT_WRITE", message } };
    } catch (error) {
      return { written: 0, error: writeError(error) };
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
