import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { digestOf } from "../../../decision/policies/snapshot.ts";
import {
  compilePolicySet,
  renderDiagnostics,
  rulesOf,
  type Diagnostic,
  type PolicyFile,
} from "../../../policy/index.ts";

export interface CompileTask {
  readonly name?: string;
  readonly files: readonly PolicyFile[];
  /** The identity providers of several customers assign roles. */
  readonly severalProviders?: boolean;
}

/** The result of compiling a set. */
export interface CompiledPolicySet {
  /** Only if no diagnostic is an error. */
  readonly set?: {
    readonly name: string;
    /** From its head. */
    readonly version: string;
    readonly digest: string;
    readonly rules: number;
  };
  readonly diagnostics: readonly Diagnostic[];
  /** The diagnostics as the CLI prints them. */
  readonly rendered: string;
}

/** Compiles a set, and reports an error if its own name differs from the one under which it is published. */
export function compileTask({ name, files, severalProviders = false }: CompileTask): CompiledPolicySet {
  const { ir, diagnostics } = compilePolicySet(files, {
    severalProviders,
    ...(name !== undefined && { name }),
  });
  if (ir === undefined) return failed(diagnostics, files);
  if (name !== undefined && ir.name !== name)
    return failed([...diagnostics, otherName(ir.name, name, files)], files);
  return {
    set: {
      name: ir.name,
      version: ir.version,
      digest: digestOf(ir),
      rules: rulesOf(ir).length,
    },
    diagnostics,
    rendered: renderDiagnostics(diagnostics, files),
  };
}

/** A summary of the errors. */
export function failed(diagnostics: readonly Diagnostic[], files: readonly PolicyFile[]): CompiledPolicySet {
  return { diagnostics, rendered: renderDiagnostics(diagnostics, files) };
}

function otherName(own: string, wanted: string, files: readonly PolicyFile[]): Diagnostic {
  return {
    severity: "error",
    code: "other-name",
    message: `the policy set is named \`${own}\` but is published as \`${wanted}\``,
    file: files.find(({ text }) => /^policy_set\s*:/m.test(text))?.name ?? files[0]?.name ?? "",
    line: 1,
    column: 1,
    length: 1,
    hint: `publish it as \`${own}\`, or write \`policy_set: ${wanted}\``,
  };
}

if (!isMainThread && parentPort !== null) {
  parentPort.postMessage(compileTask(workerData as CompileTask));
}
