import { effort } from "./effort.ts";
import { median } from "./statistics.ts";

export const ROUNDS = 9;

/**
 * Microseconds a call: the median of nine rounds after one to warm up; between rounds the event loop runs.
 *
 * @param calls - of a round
 */
export async function time(call: () => unknown, calls = 20_000): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) rounds.push(await timeRound(call, effort(calls)));
  return median(rounds.slice(1));
}

/** Microseconds a call, in one round of many; the event loop runs after it. */
export async function timeRound(call: () => unknown, calls: number): Promise<number> {
  const started = performance.now();
  for (let index = 0; index < calls; index++) {
    const result = call();
    if (result instanceof Promise) await result;
  }
  const found = ((performance.now() - started) * 1000) / calls;
  await new Promise((resolve) => setTimeout(resolve, 50));
  return found;
}
