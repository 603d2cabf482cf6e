import { errorCode } from "./error-code.ts";

/** The part of a log that says what becomes of it. */
export interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface JobOptions {
  /** What it does, as it stands after "could not": `prune expired sign-ins`. */
  readonly what: string;
  readonly log: JobLog;
  /** How bad a failure is. Default: `warn`. */
  readonly level?: "warn" | "error";
  /** Whether it runs now, too, and not only when the first interval is over. */
  readonly now?: boolean;
  /** After so long a run that failed is tried again, where the next one would be later. */
  readonly retryMs?: number;
}

/** Work that is done again and again. */
export interface Job {
  /**
   * Has it run now; where it is running, once more after that, for what changed meanwhile. Resolves when it runs no more.
   * Never rejects.
   */
  run(): Promise<void>;
  /** Begins no further run, aborts the signal of the one under way, and waits for its end. */
  close(): Promise<void>;
}

/**
 * Runs `work` every `intervalMs`, one run at a time: an interval that ends during a run is passed over. A failure is logged
 * once, and so is the first success after it, however often it is tried in between; another code is another failure. It
 * does not keep the process alive.
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
    // whoever called has the job before its work begins, which may ask for another run
    await Promise.resolve();
    do {
      again = false;
      await attempt();
    } while (isWanted());
    running = undefined;
  }

  /** A function, because it may have changed while something was awaited. */
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
