import { errorCode } from "./error-code.ts";

/** The log methods that are needed here. */
export interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface JobOptions {
  /** What it does, as a phrase that follows "could not": `prune expired sign-ins`. */
  readonly what: string;
  readonly log: JobLog;
  /** Log level of a failure. Default: `warn`. */
  readonly level?: "warn" | "error";
  /** Whether it also runs immediately, not only after the first interval. */
  readonly now?: boolean;
  /** The delay after which a failed run is retried, if the next one would be later. */
  readonly retryMs?: number;
}

/** Work that is repeated on an interval. */
export interface Job {
  /**
   * Runs the work now. If it is already running, runs it once more afterwards, for what has changed since. Resolves when no
   * run is left. Never rejects.
   */
  run(): Promise<void>;
  /** Starts no further run, aborts the signal of the current one, and waits for it to end. */
  close(): Promise<void>;
}

/**
 * Runs `work` every `intervalMs`, one run at a time: an interval that ends during a run is skipped. Repeated failures with
 * the same code are logged once, and so is the first success after them. The timer does not keep the process alive.
 */
export function every(
  intervalMs: number,
  work: (signal: AbortSignal) => unknown,
  { what, log, level = "warn", now = false, retryMs = intervalMs }: JobOptions,
): Job {
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let again = false;
  let failing: string | undefined;
  let retry: NodeJS.Timeout | undefined;

  async function attempt(): Promise<void> {
    clearTimeout(retry);
    try {
      await work(closing.signal);
    } catch (error) {
      const code = errorCode(error) ?? "UNKNOWN";
      if (code !== failing) log[level]({ err: error, code }, `could not ${what}; will retry`);
      failing = code;
      if (retryMs < intervalMs && !closing.signal.aborted) retry = setTimeout(tick, retryMs).unref();
      return;
    }
    if (failing !== undefined) log.info({}, `can ${what} again`);
    failing = undefined;
  }

  async function runUntilQuiet(): Promise<void> {
    // the caller has the job before its work begins, which may ask for another run
    await Promise.resolve();
    do {
      again = false;
      await attempt();
    } while (isWanted());
    running = undefined;
  }

  /** A function, because the value may have changed during an `await`. */
  function isWanted(): boolean {
    return again && !closing.signal.aborted;
  }

  function tick(): void {
    running ??= runUntilQuiet();
  }

  const timer = setInterval(tick, intervalMs).unref();
  if (now) tick();
  return {
    run() {
      if (closing.signal.aborted) return running ?? Promise.resolve();
      again = true;
      return (running ??= runUntilQuiet());
    },
    async close() {
      clearInterval(timer);
      clearTimeout(retry);
      closing.abort();
      await running;
    },
  };
}
