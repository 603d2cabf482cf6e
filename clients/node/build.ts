import { execFile } from "node:child_process";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const HERE = import.meta.dirname;

/** Writes the package as it is published, as ES modules and as CommonJS, with types for both. */
export async function buildNodeClient(folder = HERE): Promise<void> {
  const dist = join(folder, "dist");
  await rm(dist, { recursive: true, force: true });
  await compile(join(dist, "esm"), ["--module", "nodenext", "--moduleResolution", "nodenext"]);
  const commonjs = [
    "--module",
    "commonjs",
    "--moduleResolution",
    "bundler",
    "--verbatimModuleSyntax",
    "false",
  ];
  await compile(join(dist, "cjs"), commonjs);
  await writeFile(join(dist, "cjs/package.json"), '{ "type": "commonjs" }\n');
  if (folder === HERE) return;
  await mkdir(folder, { recursive: true });
  for (const name of ["package.json", "README.md"]) await cp(join(HERE, name), join(folder, name));
}

async function compile(out: string, modules: readonly string[]): Promise<void> {
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc6");
  const options = ["-p", HERE, "--noEmit", "false", "--outDir", out];
  await promisify(execFile)(process.execPath, [tsc, ...options, ...modules]).catch((error: unknown) => {
    throw new Error(`the client does not compile: ${(error as { stdout: string }).stdout}`, { cause: error });
  });
}

if (process.argv[1] === import.meta.filename) await buildNodeClient();
