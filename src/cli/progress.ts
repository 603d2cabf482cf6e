/** Prints progress for the person who waits; on stderr, because stdout is for results. */
export function progress(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** {@link progress} as a log. */
export const progressLog = { info: progress, warn: progress, error: progress };

/** Shows how much of something is done. */
export interface ProgressBar {
  update(done: number): void;
  end(): void;
}

const BAR_WIDTH = 30;
const BAR_EVERY_MS = 200;

/** @returns a bar on stderr, if that is a terminal; otherwise nothing is shown */
export function progressBar(total: number): ProgressBar {
  if (!process.stderr.isTTY) return { update: () => undefined, end: () => undefined };
  let shown = 0;
  return {
    update(done) {
      if (performance.now() - shown < BAR_EVERY_MS) return;
      shown = performance.now();
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const filled = "#".repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH, ".");
      process.stderr.write(`\r[${filled}] ${Math.floor(part * 100)} %`);
    },
    end() {
      if (shown > 0) process.stderr.write(`\r${" ".repeat(BAR_WIDTH + 10)}\r`);
    },
  };
}
