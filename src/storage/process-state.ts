import { readFile } from "node:fs/promises";
import { errorCode } from "../runtime/error-code.ts";

/**
 * Whether there is a process with this id, whoever's. One that has ended counts as gone even where nobody has waited for
 * it, as in a container whose first process does not care for orphans.
 */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: another user's
    if (errorCode(error) !== "EPERM") return false;
  }
  // proc_pid_stat(5): the state follows the name, which may hold anything
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** The command line of a process; undefined where it cannot be told. */
export async function commandLine(pid: number): Promise<readonly string[] | undefined> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text === "" ? undefined : text.split("\0");
}
