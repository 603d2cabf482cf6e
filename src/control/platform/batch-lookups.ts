import { setImmediate as nextTurn } from "node:timers/promises";
import { forAllCallers } from "../../storage/index.ts";

/** Keys of one statement. */
const MOST = 1_000;

interface Batch<V> {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlyMap<string, V>>;
}

/**
 * Combines look-ups that are requested in one turn of the event loop, or while the previous statement runs, into one
 * statement; one at a time, over one connection. Every look-up starts after it was requested, as it would alone.
 *
 * @param load - finds the entries of several keys
 * @returns a function that finds the entry of one key
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
        // later requests need a new statement
        if (open?.keys === keys) open = undefined;
        return forAllCallers(() => load([...keys]));
      });
      open = { keys, found };
      last = found;
    }
    open.keys.add(key);
    return (await open.found).get(key);
  };
}
