import { closeSync, openSync } from "node:fs";
import { destination } from "pino";

/** Lines that are written one after the other, without waiting for each. */
export interface LineFile {
  write(line: string): void;
  /** Writes what is waiting. */
  close(): Promise<void>;
}

const STDERR = 2;
/** Bytes that wait for the disk, or for the reader of standard error; more is dropped. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** A log of addresses and ids is not for everybody on the machine. */
const MODE = 0o640;

/**
 * Opens a file to append to.
 *
 * @param file - a path, or `stderr`
 * @param dropped - hears of each line that was not written
 * @throws if the file cannot be opened
 */
export function openLineFile(file: string, dropped: () => void): LineFile {
  const descriptor = file === "stderr" ? STDERR : openSync(file, "a", MODE);
  const stream = destination({ dest: descriptor, sync: false, maxLength: MAX_WAITING_BYTES });
  stream.on("drop", dropped);
  stream.on("error", dropped);
  return {
    write(line) {
      stream.write(`${line}\n`);
    },
    close: () =>
      new Promise((resolve) => {
        stream.flush(() => {
          if (descriptor !== STDERR) closeSync(descriptor);
          resolve();
        });
      }),
  };
}
