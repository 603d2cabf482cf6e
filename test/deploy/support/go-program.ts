import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * A program that is made from its Go module and kept in `.gatehouse`.
 *
 * @param name - of the program
 * @param source - its package
 * @param version - of its module
 * @param tags - for its build
 * @returns its path; `undefined` where `go` cannot make it
 */
export function goProgram(
  name: string,
  source: string,
  version: string,
  tags: readonly string[] = [],
): string | undefined {
  const folder = resolve(".gatehouse", `${name}-${version}`);
  const binary = join(folder, name);
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder };
  const made = spawnSync("go", ["install", "-tags", tags.join(","), `${source}@${version}`], {
    cwd: tmpdir(),
    env,
  });
  return made.status === 0 ? binary : undefined;
}
