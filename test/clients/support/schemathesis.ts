import { execFile, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** What a run of Schemathesis said. */
export interface SchemathesisRun {
  /** 0 where every check held. */
  readonly code: number | null;
  /** As people read it: each failure with a request that shows it. */
  readonly output: string;
}

const REQUIREMENTS = fileURLToPath(new URL("schemathesis-requirements.txt", import.meta.url));
const FOLDER = resolve(".gatehouse", "schemathesis");

/**
 * Runs Schemathesis, an API tester that makes requests by an OpenAPI document (the package of the same name of PyPI).
 * Installed at the first call.
 *
 * @param directory - where it runs: it takes schemathesis.toml from there, and leaves there what it remembers
 * @param args - of `schemathesis run`
 * @param environment - of the process, beside what Python needs
 */
export async function runSchemathesis(
  directory: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<SchemathesisRun> {
  const packages = await installed();
  const child = spawn(
    "python3",
    ["-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", ...args],
    {
      cwd: directory,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        PYTHONPATH: packages,
        // hash seeds would make two runs differ
        PYTHONHASHSEED: "0",
        PYTHONDONTWRITEBYTECODE: "1",
        NO_COLOR: "1",
        SCHEMATHESIS_REPORT: "false",
        ...environment,
      },
    },
  );
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once("close", done));
  process.off("exit", end);
  return { code, output };
}

/** The folder with the pinned packages, those of this very list. */
async function installed(): Promise<string> {
  const list = createHash("sha256")
    .update(await readFile(REQUIREMENTS))
    .digest("hex");
  const folder = join(FOLDER, list.slice(0, 16));
  if (existsSync(folder)) return folder;
  const target = `${folder}.${randomUUID()}.tmp`;
  await mkdir(FOLDER, { recursive: true });
  try {
    await pipInstall(target);
    await rename(target, folder).catch((error: unknown) => {
      // another process was faster
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(target, { recursive: true, force: true });
  }
  return folder;
}

/** With pip where Python has it, else with the pip of a throw-away virtual environment. */
async function pipInstall(target: string): Promise<void> {
  const run = promisify(execFile);
  const pip = [
    ...["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet", "--no-deps"],
    ...["--only-binary=:all:", "--require-hashes", "--target", target, "--requirement", REQUIREMENTS],
  ];
  const hasPip = await run("python3", ["-m", "pip", "--version"]).then(
    () => true,
    () => false,
  );
  if (hasPip) {
    await run("python3", pip);
    return;
  }
  const environment = `${target}.venv`;
  try {
    await run("python3", ["-m", "venv", environment]);
    await run(join(environment, "bin", "python"), pip);
  } finally {
    await rm(environment, { recursive: true, force: true });
  }
}
