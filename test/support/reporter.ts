import { mkdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import Mocha from "mocha";
import { RESULTS, SLOWEST, type Results, type Timed } from "./results.ts";

const LINES_OF_A_FAILURE = 12;

/** mocha's own `spec` output; and in a file what the summary of several runs is made from, see results.ts. */
export default class ResultsReporter extends Mocha.reporters.Spec {
  readonly #tests: Timed[] = [];
  readonly #files = new Map<string, number>();
  readonly #failed: string[] = [];

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on("test end", (test: Mocha.Test) => {
      this.#tests.push({ title: test.fullTitle(), ms: test.duration ?? 0 });
    });
    // hooks included: starting what a file needs takes longer than most tests
    for (const event of ["test end", "hook end"])
      runner.on(event, ({ file = "", duration = 0 }: Mocha.Runnable) => {
        const path = relative(process.cwd(), file);
        this.#files.set(path, (this.#files.get(path) ?? 0) + duration);
      });
    runner.on("fail", (test: Mocha.Test, error: Error) => {
      const lines = (error.stack ?? String(error)).split("\n").slice(0, LINES_OF_A_FAILURE);
      this.#failed.push([`FAILED ${test.fullTitle()}`, ...lines].join("\n    "));
    });
  }

  override done(failures: number, fn?: (failures: number) => void): void {
    const slowest = longestFirst(this.#tests).slice(0, SLOWEST);
    const files = longestFirst([...this.#files].map(([title, ms]) => ({ title, ms })));
    const { passes } = this.stats;
    const results: Results = { passes, failures: this.stats.failures, failed: this.#failed, slowest, files };
    mkdirSync(RESULTS, { recursive: true });
    writeFileSync(`${RESULTS}/${process.env["GROUP"] ?? "tests"}.json`, JSON.stringify(results));
    fn?.(failures);
  }
}

const longestFirst = (timed: readonly Timed[]) => [...timed].sort((a, b) => b.ms - a.ms);
