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

/**
 * @param total - `undefined`: not known; then how much is done is shown in MB
 * @returns a bar on stderr, if that is a terminal; otherwise nothing is shown
 */
export function progressBar(total: number | undefined, label = ""): ProgressBar {
  if (!process.stderr.isTTY) return { update: () => undefined, end: () => undefined };
  let shown = 0;
  return {
    update(done) {
      if (performance.now() - shown < BAR_EVERY_MS) return;
      shown = performance.now();
      process.stderr.write(
        `\r${total === undefined ? `${Math.floor(done / 1e6)} MB` : bar(done / total)}${label}`,
      );
    },
    end() {
      if (shown > 0) process.stderr.write(`\r${" ".repeat(BAR_WIDTH + 10 + label.length)}\r`);
    },
  };
}

function bar(share: number): string {
  const part = Number.isNaN(share) ? 1 : Math.min(1, share);
  const filled = "#".repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH, ".");
  return `[${filled}] ${Math.floor(part * 100)} %`;
}
