import { spawn } from "node:child_process";
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
