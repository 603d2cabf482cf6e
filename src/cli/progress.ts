/** What a command says to the person who waits; on stderr, so that stdout stays for results. */
export function progress(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** {@link progress} where a log is asked for. */
export const progressLog = { info: progress, warn: progress, error: progress };
