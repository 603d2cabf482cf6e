import { setImmediate as nextTurn } from "node:timers/promises";

/** How long others may have to wait for the event loop. */
const SLICE_MS = 10;

/**
 * Like `items.map(work)`, for work that may add up: it yields to the event loop between time slices. Rejects if `work`
 * throws.
 */
export async function inSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let end = performance.now() + SLICE_MS;
  for (const item of items) {
    if (performance.now() >= end) {
      await nextTurn();
      end = performance.now() + SLICE_MS;
    }
    results.push(work(item));
  }
  return results;
}
