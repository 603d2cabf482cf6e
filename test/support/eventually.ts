import { setTimeout as delay } from "node:timers/promises";

/** Waits until `probe` gives something other than `undefined` or false, looking every 25 ms for at most `boundMs`: the machine may be busy. */
export async function eventually<T>(
  what: string,
  probe: () => T | Promise<T>,
  boundMs = 60_000,
): Promise<Exclude<NonNullable<T>, false>> {
  const end = Date.now() + boundMs;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false)
        return found as Exclude<NonNullable<T>, false>;
    } catch (error) {
      last = error;
    }
    await delay(25);
  }
  throw new Error(`${what} did not come true within ${boundMs} ms`, { cause: last });
}
