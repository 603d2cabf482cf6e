import { isAskedToEnd } from "./run.ts";

const LOOK_MS = 200;

/**
 * Sends SIGTERM to this process when its parent has exited, for commands started by npm or npx. They forward a signal to
 * the shell in which they run the command. Where that shell does not replace itself with the command (dash), SIGTERM ends
 * the shell and npm, and the command would never be notified. (The shell defers SIGINT until the command has ended; a
 * terminal sends that one to every process anyway.) Without npm a parent may exit first, as with `nohup`, `setsid` and
 * service managers.
 */
export function endWithNpm(): void {
  const parent = process.ppid;
  // eslint-disable-next-line no-restricted-globals -- one comparison
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    if (!isAskedToEnd()) process.kill(process.pid, "SIGTERM");
  }, LOOK_MS);
  timer.unref();
}
