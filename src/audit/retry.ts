import { Backoff } from "../runtime/backoff.ts";
import { sleep } from "../runtime/sleep.ts";
import type { WriteError } from "./destination.ts";
import type { AuditLogger } from "./types.ts";

const FAILED = { firstMs: 100, longestMs: 2_000 };
const BUSY = { firstMs: 2, longestMs: 20 };
const CLOSING_MS = 100;

/** When a failed write is retried. Logs once that writing fails, and once that it works again. */
export class Retry {
  readonly #log: AuditLogger;
  readonly #failed = new Backoff(FAILED);
  readonly #busy = new Backoff(BUSY);
  #isBusy = false;
  #failing: string | undefined;
  #pause = new AbortController();

  constructor(log: AuditLogger) {
    this.#log = log;
  }

  /** Notes the result of a write. */
  note(error: WriteError | undefined, written: number, queued: number): void {
    if (written > 0 || error === undefined) {
      this.#failed.succeeded();
      this.#busy.succeeded();
    }
    this.#isBusy = error?.busy === true;
    if (error !== undefined && !error.busy && this.#failing !== error.code) {
      this.#failing = error.code;
      this.#log.error(
        { code: error.code, reason: error.message },
        "could not write audit records; will retry",
      );
    } else if (written > 0 && error === undefined && this.#failing !== undefined) {
      this.#failing = undefined;
      this.#log.info({ queued }, "writing audit records again");
    }
  }

  /** Waits before the next attempt: longer each time, but briefly while the log is being closed. */
  async pause(isClosing: boolean): Promise<void> {
    const ms = (this.#isBusy ? this.#busy : this.#failed).failed();
    this.#pause = new AbortController();
    await sleep(Math.min(ms, isClosing ? CLOSING_MS : Infinity), { signal: this.#pause.signal });
  }

  /** Ends the current wait. */
  wake(): void {
    this.#pause.abort();
  }
}
