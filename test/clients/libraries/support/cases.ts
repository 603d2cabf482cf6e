import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import type { World } from "./stage.ts";

const FOLDER = fileURLToPath(new URL("../../../../clients/cases/", import.meta.url));

interface Case {
  readonly name: string;
  readonly on: readonly string[];
  /** Whether nothing else may run against the same control plane meanwhile. */
  readonly alone?: boolean;
  readonly steps: readonly Step[];
}

/** The members of a step that say what it calls. */
export interface Step {
  readonly call?: string;
  readonly follow?: object;
  readonly sign_in?: string;
  readonly start_session?: object;
  readonly verify_token?: object;
  readonly error?: object;
}

/** Every case of every file. */
export const CASES: readonly Case[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".yaml"))
  .flatMap((name) => load(readFileSync(join(FOLDER, name), "utf8")) as Case[]);

export type Mode = "real" | "alone" | "fake";

function casesOf(mode: Mode): readonly Case[] {
  return CASES.filter(({ alone = false }) => mode === "fake" || alone === (mode === "alone"));
}

/** What is to run where. */
export function runsOf(mode: Mode): readonly (readonly [environment: string, name: string])[] {
  return casesOf(mode).flatMap(({ name, on }) =>
    on.filter((where) => (where === "fake") === (mode === "fake")).map((where) => [where, name] as const),
  );
}

interface CaseResult {
  readonly name: string;
  readonly environment: string;
  readonly problem: string | null;
}

/**
 * Runs the cases of a mode with a program.
 *
 * @param command - what runs them, without the arguments that all such programs take
 * @returns the problem of each run, or null, by `environment name`
 */
export async function runCases(
  command: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
  world: World,
  mode: Mode,
): Promise<ReadonlyMap<string, string | null>> {
  const folder = await temporaryDirectory();
  const [worldFile, casesFile] = [join(folder, "world.json"), join(folder, "cases.json")];
  await writeFile(worldFile, JSON.stringify(world));
  await writeFile(casesFile, JSON.stringify(casesOf(mode)));
  const [program = "", ...args] = command;
  const child = spawn(program, [...args, worldFile, casesFile, mode === "fake" ? "fake" : "real"], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  process.off("exit", end);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${String(code)}: ${stderr}`);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return new Map(
    lines
      .map((line) => JSON.parse(line) as CaseResult)
      .map(({ name, environment, problem }) => [`${environment} ${name}`, problem]),
  );
}
