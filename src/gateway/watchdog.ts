import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";

/**
 * Reads a process id from stdin and ends that process when stdin closes, which happens whenever its parent exits, even by
 * kill -9. Does nothing if the process has already exited.
 */
const SCRIPT = `read -r pid || exit 0
read -r word && [ "$word" = done ] && exit 0
kill -TERM "$pid" 2>/dev/null || exit 0
i=0
while [ $i -lt 20 ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; i=$((i + 1)); done
kill -KILL "$pid" 2>/dev/null`;

export interface Watchdog {
  /** The watched process has exited by itself: its id may be reused. */
  dismiss(): void;
}

/** Ensures that the process with this id does not outlive us. */
export function watch(pid: number): Watchdog {
  let dismissed = false;
  let child: ChildProcess;
  const start = () => {
    // its own session: signals from the terminal are handled by us
    child = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    child.on("error", () => undefined);
    child.stdin?.on("error", () => undefined);
    child.stdin?.write(`${String(pid)}\n`);
    child.unref();
    child.once("exit", () => {
      if (!dismissed) start();
    });
  };
  start();
  return {
    dismiss() {
      dismissed = true;
      child.stdin?.end("done\n");
    },
  };
}
