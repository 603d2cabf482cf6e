/** Prints progress for the person who waits; on stderr, because stdout is for results. */
export function progress(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** {@link progress} as a log. */
export const progressLog = { info: progress, warn: progress, error: progress };
