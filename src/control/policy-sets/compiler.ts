import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Diagnostic } from "../../policy/index.ts";
import { ApiError } from "../errors.ts";
import { failed, type CompiledPolicySet, type CompileTask } from "./compile-thread.ts";

/** Bytes of all files of a set together. */
export const MAX_SET_BYTES = 2 * 1024 * 1024;

export interface CompilerLimits {
  /** Sets that are compiled at once. */
  readonly threads: number;
  /** Sets that wait for it; more are refused. */
  readonly waiting: number;
  readonly timeoutMs: number;
  readonly memoryMb: number;
}
const LIMITS: CompilerLimits = { threads: 2, waiting: 16, timeoutMs: 20_000, memoryMb: 768 };

/** Compiles policy sets of strangers: aside from requests, few at once, within bounds of size, time and memory. */
export type PolicySetCompiler = (task: CompileTask) => Promise<CompiledPolicySet>;

/**
 * What exceeds a bound of size, time or memory is a diagnostic like others.
 * The compiler rejects with SERVICE_UNAVAILABLE where too many wait.
 */
export function createPolicySetCompiler(limits: Partial<CompilerLimits> = {}): PolicySetCompiler {
  const { threads, waiting, timeoutMs, memoryMb } = { ...LIMITS, ...limits };
  const queue: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    const bytes = task.files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (bytes > MAX_SET_BYTES) return refused(task, "set-too-large", "the set is larger than 2 MB");
    if (running < threads) running += 1;
    else {
      if (queue.length >= waiting) {
        throw new ApiError("SERVICE_UNAVAILABLE", {
          message: "too many policy sets are being compiled; try again",
          headers: { "retry-after": "5" },
        });
      }
      // whoever ends hands its place over
      await new Promise<void>((resolve) => queue.push(resolve));
    }
    try {
      return await compileInThread(task, timeoutMs, memoryMb);
    } finally {
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

function compileInThread(task: CompileTask, timeoutMs: number, memoryMb: number): Promise<CompiledPolicySet> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(fileURLToPath(new URL(`./compile-thread${EXTENSION}`, import.meta.url)), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const timer = setTimeout(() => {
      resolve(refused(task, "set-too-slow", `the set takes more than ${timeoutMs / 1000} s to compile`));
      void thread.terminate();
    }, timeoutMs);
    thread.once("message", (result: CompiledPolicySet) => {
      resolve(result);
      void thread.terminate();
    });
    thread.once("error", (error: Error) => {
      if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY")
        resolve(refused(task, "set-too-complex", `the set takes more than ${memoryMb} MB to compile`));
      else reject(error);
    });
    thread.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`the compiling thread ended with code ${code} and no result`));
    });
  });
}

/** `.ts`, or `.js` in the published package. */
const EXTENSION = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

function refused({ files }: CompileTask, code: string, message: string): CompiledPolicySet {
  const file = files[0]?.name ?? "";
  const finding: Diagnostic = {
    severity: "error",
    code,
    message,
    file,
    line: 1,
    column: 1,
    length: 1,
    hint: "make it several policy sets",
  };
  return failed([finding], []);
}
