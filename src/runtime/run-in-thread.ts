import { Worker } from "node:worker_threads";
import { inTime } from "./in-time.ts";

export interface ThreadOptions {
  /** The module that the thread runs. It reads `workerData` and posts one message, the result. */
  readonly script: URL;
  readonly data: unknown;
  readonly memoryMb: number;
  /** Default: no limit. */
  readonly timeoutMs?: number;
}

/** The thread produced no result in time and was terminated. */
export class ThreadTimeoutError extends Error {
  readonly code = "ERR_THREAD_TIMEOUT";
}

/**
 * Runs one task in its own thread, which ends with the task, so that neither its time nor its memory depends on earlier
 * tasks.
 *
 * @throws ThreadTimeoutError, or the error of the thread; its code is ERR_WORKER_OUT_OF_MEMORY if it exceeded its memory
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
      reject(new Error(`the thread exited with code ${code} without a result`));
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
