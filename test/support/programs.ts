import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { LEFT_OUT, RESULTS } from "./results.ts";

/** Whether a program is on the PATH; if not, the summary of the tests says that `tests` are left out. */
export function isInstalled(program: string, tests: string): boolean {
  if (spawnSync(program, ["-v"]).error === undefined) return true;
  leaveOut(tests, program, "is not installed");
  return false;
}

/** Has the summary say that `tests` are left out, and what is missing: they cannot be pending (see .mocharc.json). */
export function leaveOut(tests: string, missing: string, why: string): void {
  mkdirSync(RESULTS, { recursive: true });
  const file = `${`${tests} ${missing}`.replaceAll(/\W+/g, "-")}${LEFT_OUT}`;
  writeFileSync(`${RESULTS}/${file}`, `${tests}: ${missing} ${why}\n`);
}
