import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";

/** So many at once that Envoy asks every worker, each more than once. */
const AT_ONCE = 24;

/**
 * Waits until all workers of a gateway answer alike, which they do when a change has reached each of them; then none may
 * come back to what it was.
 *
 * @param ask - sends a request; requests that are sent at once take connections of their own
 */
export async function allWorkersAnswer(
  what: string,
  expected: string | RegExp,
  ask: () => Promise<string>,
  boundMs?: number,
): Promise<void> {
  const isExpected = (answer: string) =>
    typeof expected === "string" ? answer === expected : expected.test(answer);
  const askAll = () => Promise.all(Array.from({ length: AT_ONCE }, ask));
  await eventually(what, async () => (await askAll()).every(isExpected), boundMs);
  const others = (await askAll()).filter((answer) => !isExpected(answer));
  assert.deepEqual(others, [], `${what}: and then again something else`);
}
