import "./platform/globals.ts";
import type { Answered, Asked, Tasks, TaskName } from "./protocol.ts";
import { tasks } from "./tasks.ts";

/** At most this often, ms: a message for each of 10,000 cases would take longer than the cases. */
const PROGRESS_EVERY = 50;

/** The part of a worker's global scope that is used here. */
interface Scope {
  onmessage: ((event: { readonly data: Asked }) => void) | null;
  postMessage(message: Answered): void;
}
const scope = globalThis as unknown as Scope;

scope.onmessage = ({ data }) => void answer(data);

async function answer({ id, task, input }: Asked): Promise<void> {
  let said = Date.now();
  const progress = (done: number, total: number) => {
    if (Date.now() - said < PROGRESS_EVERY) return;
    said = Date.now();
    scope.postMessage({ id, done, total });
  };
  try {
    const run = tasks[task] as (input: unknown, progress: unknown) => Promise<Tasks[TaskName]["gives"]>;
    scope.postMessage({ id, result: await run(input, progress) });
  } catch (error) {
    scope.postMessage({ id, failure: String(error) });
  }
}
