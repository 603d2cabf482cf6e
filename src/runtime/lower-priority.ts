import { constants, setPriority } from "node:os";

/**
 * Lets requests take precedence over this thread when the CPU is short. On Linux only: elsewhere a priority belongs to the whole
 * process.
 */
export function lowerPriority(): void {
  if (process.platform === "linux") setPriority(0, constants.priority.PRIORITY_LOW);
}
