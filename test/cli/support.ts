import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../../bin/gatehouse.js", import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as its users do, to its end. */
export function gatehouse(
  args: readonly string[],
  { cwd = tmpdir(), node = process.execPath }: { readonly cwd?: string; readonly node?: string } = {},
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [CLI, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

/**
 * Runs commands as `gatehouse` does, one after the other in one process: to start one takes ten times as long as most commands of
 * `gatehouse policy`. What a process of its own could do differently, main.test.ts asks.
 */
export function keptCommandLine() {
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const run = async (args: readonly string[], cwd: string): Promise<CliResult> => {
    child ??= fork(new URL("kept-process.ts", import.meta.url), {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.send({ args, cwd });
    const [result] = (await once(child, "message")) as [CliResult];
    return result;
  };
  return {
    gatehouse(
      args: readonly string[],
      { cwd = tmpdir() }: { readonly cwd?: string } = {},
    ): Promise<CliResult> {
      const result = last.then(() => run(args, cwd));
      last = result.catch(() => undefined);
      return result;
    },
    close: async (): Promise<void> => {
      if (child === undefined) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** A folder of its own with these files. */
export async function folderOf(files: Readonly<Record<string, string>>) {
  const path = await mkdtemp(join(tmpdir(), "gatehouse-cli-"));
  const add = async (more: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(more)) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), text);
    }
  };
  await add(files);
  return { path, add, remove: () => rm(path, { recursive: true, force: true }) };
}

export type Folder = Awaited<ReturnType<typeof folderOf>>;
