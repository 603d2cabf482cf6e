import { writeFileSync, mkdirSync } from "node:fs";
import Mocha from "mocha";

const SHOWN = 10;
const LINES_OF_A_FAILURE = 12;

/**
 * mocha's own `spec` output, then the slowest tests; and in two files what `.ci/run` prints last: the totals, and which tests
 * failed how.
 */
export default class SummaryReporter extends Mocha.reporters.Spec {
  readonly #tests: { readonly title: string; readonly ms: number }[] = [];
  readonly #failures: string[] = [];

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on("test end", (test: Mocha.Test) => {
      this.#tests.push({ title: test.fullTitle(), ms: test.duration ?? 0 });
    });
    runner.on("fail", (test: Mocha.Test, error: Error) => {
      const lines = (error.stack ?? String(error)).split("\n").slice(0, LINES_OF_A_FAILURE);
      this.#failures.push([`FAILED ${test.fullTitle()}`, ...lines].join("\n    ") + "\n");
    });
  }

  override done(failures: number, fn?: (failures: number) => void): void {
    mkdirSync("coverage", { recursive: true });
    writeFileSync("coverage/totals.txt", `${this.stats.passes} passed, ${this.stats.failures} failed\n`);
    writeFileSync("coverage/failures.txt", this.#failures.join(""));
    const slowest = this.#tests.sort((a, b) => b.ms - a.ms).slice(0, SHOWN);
    if (this.#tests.length > SHOWN) {
      Mocha.reporters.Base.consoleLog("  the slowest tests");
      for (const { title, ms } of slowest)
        Mocha.reporters.Base.consoleLog(`  %s s  %s`, (ms / 1000).toFixed(1).padStart(6), title);
      Mocha.reporters.Base.consoleLog();
    }
    fn?.(failures);
  }
}
