import { readFile } from "node:fs/promises";
import { errorCode } from "../runtime/error-code.ts";

/**
 * Whether there is a process with this id, of any user. A zombie does not count, as in a container whose first process does
 * not reap orphans.
 */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it belongs to another user
    if (errorCode(error) !== "EPERM") return false;
  }
  // proc_pid_stat(5): the state follows the name, which may contain anything
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** The command line of a process; undefined if it is not known. */
export async function commandLine(pid: number): Promise<readonly string[] | undefined> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text === "" ? undefined : text.split("\0");
}
