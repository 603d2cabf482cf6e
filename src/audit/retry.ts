import type { WriteError } from "./destination.ts";
import type { AuditLogger } from "./types.ts";

const FIRST_MS = 50;
const LONGEST_MS = 2_000;
const BUSY_MS = 20;
const CLOSING_MS = 100;

/** When a failed write is tried again, and what is said about it: once that it fails, and once that it works again. */
export class Retry {
  readonly #log: AuditLogger;
  #delay = 0;
  #busy = false;
  #failing: string | undefined;
  #wake: (() => void) | undefined;

  constructor(log: AuditLogger) {
    this.#log = log;
  }

  /** Notes what came of a write. */
  note(error: WriteError | undefined, written: number, queued: number): void {
    if (written > 0 || error === undefined) this.#delay = 0;
    this.#busy = error?.busy === true;
    if (error !== undefined && !error.busy && this.#failing !== error.code) {
      this.#failing = error.code;
      this.#log.error(
        { code: error.code, reason: error.message },
        "audit records cannot be written, trying again",
      );
    } else if (written > 0 && error === undefined && this.#failing !== undefined) {
      this.#failing = undefined;
      this.#log.info({ queued }, "audit records are being written again");
    }
  }

  /** Waits before the next try: longer each time, and not long while the log is being closed. */
  pause(isClosing: boolean): Promise<void> {
    const [first, longest] = this.#busy ? [1, BUSY_MS] : [FIRST_MS, LONGEST_MS];
    this.#delay = Math.min(longest, Math.max(first, this.#delay * 2), isClosing ? CLOSING_MS : longest);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#delay);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends a pause. */
  wake(): void {
    this.#wake?.();
  }
}
