import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { compilePolicySet, type Diagnostic, type PolicyFile, type PolicySetIR } from "../../policy/index.ts";
import { runInThread } from "../../runtime/run-in-thread.ts";

const MEMORY_MB = 2_048;

/** The result of compiling a policy set; `ir` only if no diagnostic is an error. */
export interface Compilation {
  readonly ir?: PolicySetIR;
  readonly diagnostics: readonly Diagnostic[];
}

interface Task {
  readonly files: readonly PolicyFile[];
  readonly name: string;
}

/**
 * Compiles a policy set in a thread of its own, so that a large set does not delay requests. Rejects if the thread dies
 * (for example, out of memory); findings about the policies are in the result.
 */
export function compileInThread(files: readonly PolicyFile[], name: string): Promise<Compilation> {
  const data: Task = { files, name };
  return runInThread<Compilation>({ script: new URL(import.meta.url), data, memoryMb: MEMORY_MB });
}

if (!isMainThread && parentPort !== null) {
  const { files, name } = workerData as Task;
  parentPort.postMessage(compilePolicySet([...files], { name }));
}
