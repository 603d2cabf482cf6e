import { setTimeout as delay } from "node:timers/promises";

/** Thrown by a probe where waiting is of no use any more. */
export class Hopeless extends Error {}

/**
 * Waits until `probe` gives something other than `undefined` or false, for at most `boundMs`: the machine may be busy. It looks
 * every 25 ms at first, and less often the longer it takes: what is waited for needs the processor more.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | Promise<T>,
  boundMs = 60_000,
): Promise<Exclude<NonNullable<T>, false>> {
  const start = Date.now();
  const end = start + boundMs;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false)
        return found as Exclude<NonNullable<T>, false>;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      last = error;
    }
    await delay(Math.min(250, Math.max(25, (Date.now() - start) / 10)));
  }
  const why = last instanceof Error ? `: ${last.message}` : "";
  throw new Error(`${what} did not come true within ${boundMs} ms${why}`, { cause: last });
}
