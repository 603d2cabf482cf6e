import { mkdirSync, writeFileSync } from "node:fs";
import Mocha from "mocha";
import { RESULTS, SLOWEST, type Results } from "./results.ts";

const LINES_OF_A_FAILURE = 12;

/** mocha's own `spec` output; and in a file what the summary of several runs is made from, see results.ts. */
export default class ResultsReporter extends Mocha.reporters.Spec {
  readonly #tests: { readonly title: string; readonly ms: number }[] = [];
  readonly #failed: string[] = [];

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on("test end", (test: Mocha.Test) => {
      this.#tests.push({ title: test.fullTitle(), ms: test.duration ?? 0 });
    });
    runner.on("fail", (test: Mocha.Test, error: Error) => {
      const lines = (error.stack ?? String(error)).split("\n").slice(0, LINES_OF_A_FAILURE);
      this.#failed.push([`FAILED ${test.fullTitle()}`, ...lines].join("\n    "));
    });
  }

  override done(failures: number, fn?: (failures: number) => void): void {
    const slowest = this.#tests.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST);
    const { passes } = this.stats;
    const results: Results = { passes, failures: this.stats.failures, failed: this.#failed, slowest };
    mkdirSync(RESULTS, { recursive: true });
    writeFileSync(`${RESULTS}/${process.env["GROUP"] ?? "tests"}.json`, JSON.stringify(results));
    fn?.(failures);
  }
}
