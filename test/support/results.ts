/** Where each run of mocha leaves its results, in a file named after its group. */
export const RESULTS = "coverage/results";
/** Ending of files there that say which tests were left out, and why. */
export const LEFT_OUT = ".left-out";
/** How many of the slowest tests and files are told. */
export const SLOWEST = 10;

/** A test or a file, and how long it took. */
export interface Timed {
  readonly title: string;
  readonly ms: number;
}

/** What one run of mocha came to. */
export interface Results {
  readonly passes: number;
  readonly failures: number;
  /** Title, message and a bit of the stack of each failure. */
  readonly failed: readonly string[];
  readonly slowest: readonly Timed[];
  /** Every file, by the time of its tests and hooks together, the longest first. */
  readonly files: readonly Timed[];
}
