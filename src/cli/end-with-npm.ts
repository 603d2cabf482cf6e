import { isAskedToEnd } from "./run.ts";

const LOOK_MS = 200;

/**
 * Ends a command that npm or npx has started, by SIGTERM, when its parent is gone. They hand a signal on to the shell that
 * they run a command in; where that stays in between (dash), SIGTERM ends it alone, npm with it, and nobody would tell the
 * command. (SIGINT it keeps for itself until the command has ended: a terminal sends that to all of them.) Without npm a
 * parent may end: `nohup`, `setsid` and service managers stay what they are.
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
