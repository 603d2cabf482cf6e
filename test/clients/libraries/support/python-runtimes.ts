import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A program that runs Python. */
export interface PythonRuntime {
  readonly program: string;
  readonly version: string;
  /** The list of packages with which it is tested: the oldest that the library allows with the oldest Python. */
  readonly requirements: "oldest" | "newest";
}

const OLDEST_MINOR = 9;
const NEWEST_MINOR = 20;
const TELL = "import sys; print(sys.executable); print('.'.join(map(str, sys.version_info[:3])))";

/** The oldest and the newest Python of this machine that the library supports: one alone is both. */
export const PYTHON_RUNTIMES: readonly PythonRuntime[] = extremes();

function extremes(): readonly PythonRuntime[] {
  const found = candidates()
    .flatMap(ask)
    .filter(({ version }) => Number(version.split(".")[1]) >= OLDEST_MINOR)
    .sort((a, b) => a.version.localeCompare(b.version, "en", { numeric: true }));
  const [oldest, newest] = [found[0], found.at(-1)];
  if (oldest === undefined || newest === undefined) throw new Error("no Python 3.9 or newer was found");
  return [
    { ...oldest, requirements: "oldest" },
    { ...newest, requirements: "newest" },
  ];
}

/** Those of `PATH`, and those that pyenv keeps beside it. */
function candidates(): readonly string[] {
  const names = [
    "python3",
    ...Array.from(
      { length: NEWEST_MINOR - OLDEST_MINOR + 1 },
      (_, index) => `python3.${OLDEST_MINOR + index}`,
    ),
  ];
  const paths = (process.env["PATH"] ?? "").split(delimiter);
  const pyenv = join(process.env["PYENV_ROOT"] ?? join(process.env["HOME"] ?? "/", ".pyenv"), "versions");
  return [
    ...paths.flatMap((path) => names.map((name) => join(path, name))),
    ...(existsSync(pyenv) ? readdirSync(pyenv).map((name) => join(pyenv, name, "bin/python3")) : []),
  ].filter((program) => existsSync(program));
}

/** @returns nothing for a program that does not run: pyenv has one in `PATH` for each version that it knows */
function ask(candidate: string): readonly Pick<PythonRuntime, "program" | "version">[] {
  try {
    const told = execFileSync(candidate, ["-c", TELL], { stdio: ["ignore", "pipe", "ignore"] });
    const [program = "", version = ""] = told.toString().split("\n");
    return [{ program, version }];
  } catch {
    return [];
  }
}
