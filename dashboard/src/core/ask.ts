import type { Answered, Asked, TaskName, Tasks } from "./protocol.ts";

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: Error) => void;
  readonly progress: ((done: number, total: number) => void) | undefined;
}

/** A worker that runs tasks one after the other, and starts when it is first asked. */
export class CoreWorker {
  #worker: Worker | undefined;
  #next = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** Runs a task beside the page, so that a large policy set does not hold it up. */
  ask<N extends TaskName>(
    task: N,
    input: Tasks[N]["asks"],
    progress?: (done: number, total: number) => void,
  ): Promise<Tasks[N]["gives"]> {
    this.#worker ??= this.#start();
    const id = (this.#next += 1);
    const asked: Asked = { id, task, input };
    this.#worker.postMessage(asked);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting["resolve"], reject, progress });
    });
  }

  /** Ends whatever runs; the next task starts afresh. */
  cancel(): void {
    this.#worker?.terminate();
    this.#fail("cancelled");
  }

  #fail(message: string): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error(message));
    this.#waiting.clear();
  }

  #start(): Worker {
    const started = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    started.onmessage = ({ data }: MessageEvent<Answered>) => {
      const one = this.#waiting.get(data.id);
      if ("done" in data) {
        one?.progress?.(data.done, data.total);
        return;
      }
      this.#waiting.delete(data.id);
      if ("result" in data) one?.resolve(data.result);
      else one?.reject(new Error(data.failure));
    };
    started.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message || "the worker did not start");
    };
    return started;
  }
}

const shared = new CoreWorker();

/** Asks the worker for short tasks, which all pages share. */
export const ask: CoreWorker["ask"] = (task, input, progress) => shared.ask(task, input, progress);

/** Ends whatever the shared worker runs. */
export function cancelTasks(): void {
  shared.cancel();
}
