import { Worker } from "node:worker_threads";
import { inTime } from "./in-time.ts";

export interface ThreadOptions {
  /** The module that the thread runs: it reads `workerData`, and posts one message, the result. */
  readonly script: URL;
  readonly data: unknown;
  readonly memoryMb: number;
  /** Default: as long as it takes. */
  readonly timeoutMs?: number;
}

/** The thread had no result in time, and was ended. */
export class ThreadTimeoutError extends Error {
  readonly code = "ERR_THREAD_TIMEOUT";
}

/**
 * Does one task in a thread of its own, which ends with it: what the task takes, and whether it comes to an end, depends on
 * nothing that was done before.
 *
 * @throws ThreadTimeoutError, and what the thread failed with: by the code ERR_WORKER_OUT_OF_MEMORY where that was it
 */
export async function runInThread<Result>(options: ThreadOptions): Promise<Result> {
  const { script, data, memoryMb, timeoutMs } = options;
  const thread = new Worker(script, {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const result = new Promise<{ readonly value: Result }>((resolve, reject) => {
    thread.once("message", (value: Result) => {
      resolve({ value });
    });
    thread.once("error", reject);
    thread.once("exit", (code) => {
      reject(new Error(`the thread ended with code ${code} and no result`));
    });
  });
  try {
    const found = await (timeoutMs === undefined ? result : inTime(result, timeoutMs, undefined));
    if (found === undefined) throw new ThreadTimeoutError(`no result within ${String(timeoutMs)} ms`);
    return found.value;
  } finally {
    void thread.terminate();
  }
}
