import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { installPythonPackages } from "./python-packages.ts";

/** What a run of Schemathesis said. */
export interface SchemathesisRun {
  /** 0 where every check held. */
  readonly code: number | null;
  /** As people read it: each failure with a request that shows it. */
  readonly output: string;
}

const REQUIREMENTS = fileURLToPath(new URL("schemathesis-requirements.txt", import.meta.url));

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
  const packages = await installPythonPackages("schemathesis", REQUIREMENTS);
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
