import type { Supervisor } from "../processes/gateway/supervisor.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Ctrl-C in a terminal reaches every process at once, and npm forwards its own copy: both count as one request. */
const ONE_WISH_MS = 1_000;

let asked: number | undefined;

/** Whether this process has received a signal to end. */
export function isAskedToEnd(): boolean {
  return asked !== undefined;
}

/** Resolves at the first SIGTERM or SIGINT. Another one, at least a second later, ends the process at once. */
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
 * Runs work that must not be interrupted, because it may have started a database. A signal takes effect when the work is
 * done; another one, at least a second later, takes effect at once.
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
 * @param stopped - resolves at the signal, for a command that started other things before; default: listens from now on
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
