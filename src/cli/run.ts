import type { Supervisor } from "../processes/gateway/supervisor.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Ctrl-C in a terminal reaches everything at once, and npm hands on what it got: both are one wish. */
const ONE_WISH_MS = 1_000;

let asked: number | undefined;

/** Whether a signal has asked this process to end. */
export function isAskedToEnd(): boolean {
  return asked !== undefined;
}

/** Resolves at the first SIGTERM or SIGINT. A second one, a second later or after, ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise<void>((resolve) => {
    const stop = () => {
      if (asked !== undefined && performance.now() - asked > ONE_WISH_MS) process.exit(130);
      asked ??= performance.now();
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, stop);
  });
}

/**
 * Does what must not be left half way, for it may have started a database: a signal is obeyed once the work is done, a
 * second one, a second later or after, at once.
 */
export async function beforeSignals<T>(work: () => Promise<T>): Promise<T> {
  let received: NodeJS.Signals | undefined;
  const remember = (signal: NodeJS.Signals) => {
    if (asked !== undefined && performance.now() - asked > ONE_WISH_MS) process.exit(130);
    asked ??= performance.now();
    received ??= signal;
  };
  for (const signal of SIGNALS) process.on(signal, remember);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, remember);
    if (received !== undefined) process.kill(process.pid, received);
  }
}

/**
 * Waits for a signal, then closes the supervisor.
 *
 * @param stopped - of a command that has started other things before; default: from now on
 */
export async function runUntilSignal(
  supervisor: Supervisor,
  ready: () => void,
  stopped: Promise<void> = untilSignal(),
): Promise<void> {
  const started = supervisor.ready().then(ready);
  await Promise.race([stopped, started]).catch(async (error: unknown) => {
    await supervisor.close();
    throw error;
  });
  await stopped;
  await supervisor.close();
}
