import type { Supervisor } from "../supervisor.ts";

/** Resolves at the first SIGTERM or SIGINT. A second one ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise<void>((resolve) => {
    let asked = 0;
    const stop = () => {
      asked += 1;
      if (asked > 1) process.exit(130);
      resolve();
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}

/**
 * Waits for a signal, then closes the supervisor.
 */
export async function runUntilSignal(supervisor: Supervisor, ready: () => void): Promise<void> {
  const stopped = untilSignal();
  const started = supervisor.ready().then(ready);
  await Promise.race([stopped, started]).catch(async (error: unknown) => {
    await supervisor.close();
    throw error;
  });
  await stopped;
  await supervisor.close();
}
