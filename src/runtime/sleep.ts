import { setTimeout as delay } from "node:timers/promises";

export interface SleepOptions {
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
  /** Whether the wait keeps the process alive. Default: true. */
  readonly ref?: boolean;
}

/** Waits for `ms`, or until the signal is aborted. Never rejects: the caller checks the signal. */
export async function sleep(ms: number, options: SleepOptions = {}): Promise<void> {
  await delay(ms, undefined, options).catch(() => undefined);
}
