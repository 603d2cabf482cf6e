import { getPriority, setPriority } from "node:os";

/** Added to the niceness, up to the maximum. */
const NICER = 10;
const MOST_NICE = 19;

/**
 * Lets requests take precedence over this thread when the CPU is short. On Linux only: elsewhere a priority belongs to the whole
 * process.
 */
export function lowerPriority(): void {
  if (process.platform === "linux") setPriority(0, Math.min(getPriority(0) + NICER, MOST_NICE));
}
