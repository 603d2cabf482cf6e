/** `--quick` takes about a tenth of the time: enough to check that a benchmark works, but its numbers are not reliable. */
export const quick = process.argv.includes("--quick");

/** @returns the number or duration of runs: `full`, or a tenth of it, but at least 1 */
export function effort(full: number): number {
  return quick ? Math.max(1, Math.round(full / 10)) : full;
}

/** Workers of a gateway: the default on two cores, whereas tests use one. */
export const NODES = 2;
