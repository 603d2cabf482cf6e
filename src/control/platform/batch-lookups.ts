import { setImmediate as nextTurn } from "node:timers/promises";

/** Keys of one statement. */
const MOST = 1_000;

interface Batch<V> {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlyMap<string, V>>;
}

/**
 * Looks up by one statement what is asked for in one turn of the event loop, or while the statement before is under way: one at a
 * time, over one connection. Every look-up begins after it was asked for, as it would alone.
 *
 * @param load - finds what there is of some keys
 * @returns finds what there is of one key
 */
export function batchLookups<V>(
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | undefined> {
  let open: Batch<V> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return async (key) => {
    if (open === undefined || open.keys.size >= MOST) {
      const keys = new Set<string>();
      const found = Promise.allSettled([nextTurn(), last]).then(() => {
        // who asks from now on asks again
        if (open?.keys === keys) open = undefined;
        return load([...keys]);
      });
      open = { keys, found };
      last = found;
    }
    open.keys.add(key);
    return (await open.found).get(key);
  };
}
