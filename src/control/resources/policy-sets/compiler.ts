import type { Diagnostic } from "../../../policy/index.ts";
import { errorCode } from "../../../runtime/error-code.ts";
import { runInThread } from "../../../runtime/run-in-thread.ts";
import { ApiError } from "../../platform/errors.ts";
import { failed, type CompiledPolicySet, type CompileTask } from "./compile-thread.ts";

/** Maximum size of all files of a set together, in bytes. */
export const MAX_SET_BYTES = 2 * 1024 * 1024;

export interface CompilerLimits {
  /** Maximum number of concurrent compilations. */
  readonly threads: number;
  /** Maximum number of waiting sets; more are refused. */
  readonly waiting: number;
  readonly timeoutMs: number;
  readonly memoryMb: number;
}
const LIMITS: CompilerLimits = { threads: 2, waiting: 16, timeoutMs: 20_000, memoryMb: 768 };

/**
 * Compiles policy sets sent by users of the API: outside request handling, a few at once, and with limits on size, time
 * and memory. Each environment has its own, so that the sandbox cannot delay production.
 */
export type PolicySetCompiler = (task: CompileTask) => Promise<CompiledPolicySet>;

/**
 * Exceeding a limit on size, time or memory is a diagnostic like any other. Rejects with SERVICE_UNAVAILABLE if too
 * many sets are waiting.
 */
export function createPolicySetCompiler(limits: Partial<CompilerLimits> = {}): PolicySetCompiler {
  const all = { ...LIMITS, ...limits };
  const { threads, waiting } = all;
  const queue: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    const bytes = task.files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (bytes > MAX_SET_BYTES) return refused(task, "set-too-large", "the policy set is larger than 2 MB");
    if (running < threads) running += 1;
    else {
      if (queue.length >= waiting) {
        throw new ApiError("SERVICE_UNAVAILABLE", {
          message: "too many policy sets are being compiled; try again later",
          headers: { "retry-after": "5" },
        });
      }
      // a finished compilation passes on its slot
      await new Promise<void>((resolve) => queue.push(resolve));
    }
    try {
      return await compileInThread(task, all);
    } finally {
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

async function compileInThread(
  task: CompileTask,
  { timeoutMs, memoryMb }: CompilerLimits,
): Promise<CompiledPolicySet> {
  try {
    return await runInThread({ script: SCRIPT, data: task, timeoutMs, memoryMb });
  } catch (error) {
    switch (errorCode(error)) {
      case "ERR_THREAD_TIMEOUT":
        return refused(
          task,
          "set-too-slow",
          `the policy set takes more than ${timeoutMs / 1000} s to compile`,
        );
      case "ERR_WORKER_OUT_OF_MEMORY":
        return refused(task, "set-too-complex", `the policy set takes more than ${memoryMb} MB to compile`);
      default:
        throw error;
    }
  }
}

/** `.ts`, or `.js` in the published package. */
const EXTENSION = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const SCRIPT = new URL(`./compile-thread${EXTENSION}`, import.meta.url);

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
    hint: "split it into several policy sets",
  };
  return failed([finding], []);
}
