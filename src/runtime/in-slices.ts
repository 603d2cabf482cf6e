import { setImmediate as nextTurn } from "node:timers/promises";

/** What others may wait for the event loop. */
const SLICE_MS = 10;

/** `items.map(work)` for work that may add up: the event loop is given back between slices of time. Rejects where `work` throws. */
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
