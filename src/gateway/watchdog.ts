import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";

/**
 * Ends the process whose id it is told on stdin when stdin closes, which it does however its parent dies, kill -9
 * included; says nothing to a process that has ended already.
 */
const SCRIPT = `read -r pid || exit 0
read -r word && [ "$word" = done ] && exit 0
kill -TERM "$pid" 2>/dev/null || exit 0
i=0
while [ $i -lt 20 ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; i=$((i + 1)); done
kill -KILL "$pid" 2>/dev/null`;

export interface Watchdog {
  /** The watched process has ended by itself: forget its id, which may be another's soon. */
  dismiss(): void;
}

/** Sees to it that the process with this id does not outlive us. */
export function watch(pid: number): Watchdog {
  let dismissed = false;
  let child: ChildProcess;
  const start = () => {
    // a session of its own: signals from the terminal are ours to handle
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
