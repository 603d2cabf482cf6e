import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { compilePolicySet, type Diagnostic, type PolicyFile, type PolicySetIR } from "../../policy/index.ts";

/** What compiling a set came to; `ir` only where no diagnostic is an error. */
export interface Compilation {
  readonly ir?: PolicySetIR;
  readonly diagnostics: readonly Diagnostic[];
}

interface Task {
  readonly files: readonly PolicyFile[];
  readonly name: string;
}

/**
 * Compiles a policy set in a thread of its own, so that a large set holds up no request.
 * Rejects when the thread dies (out of memory, say); findings about the policies are in the result.
 */
export function compileInThread(files: readonly PolicyFile[], name: string): Promise<Compilation> {
  return new Promise((resolve, reject) => {
    const task: Task = { files, name };
    const thread = new Worker(fileURLToPath(import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: 2048 },
    });
    thread.once("message", (result: Compilation) => {
      resolve(result);
      void thread.terminate();
    });
    thread.once("error", reject);
    thread.once("exit", (code) => {
      reject(new Error(`the compiling thread ended with code ${code} and no result`));
    });
  });
}

if (!isMainThread && parentPort !== null) {
  const { files, name } = workerData as Task;
  parentPort.postMessage(compilePolicySet([...files], { name }));
}
