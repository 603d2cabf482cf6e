/** `--quick` takes about a tenth of the time: enough to see that a benchmark works, not to believe its figures. */
export const quick = process.argv.includes("--quick");

/** @returns how often or how long something is done: `full`, or a tenth of it, but at least 1 */
export function effort(full: number): number {
  return quick ? Math.max(1, Math.round(full / 10)) : full;
}

/** Workers of a gateway: what it has by default on two cores, where tests have one. */
export const NODES = 2;
