import type { Supervisor } from "../supervisor.ts";

/**
 * Waits for SIGTERM or SIGINT, then closes the supervisor. A second signal ends the process at once.
 */
export async function runUntilSignal(supervisor: Supervisor, ready: () => void): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    let asked = 0;
    const stop = () => {
      asked += 1;
      if (asked > 1) process.exit(130);
      resolve();
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
  const started = supervisor.ready().then(ready);
  await Promise.race([stopped, started]).catch(async (error: unknown) => {
    await supervisor.close();
    throw error;
  });
  await stopped;
  await supervisor.close();
}
