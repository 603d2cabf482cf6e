import { writeFileSync, mkdirSync } from "node:fs";
import Mocha from "mocha";

/** mocha's own `spec` output, plus the totals in one file, from which `.ci/run` prints its closing line. */
export default class SummaryReporter extends Mocha.reporters.Spec {
  override done(failures: number, fn?: (failures: number) => void): void {
    mkdirSync("coverage", { recursive: true });
    writeFileSync("coverage/totals.txt", `${this.stats.passes} passed, ${this.stats.failures} failed\n`);
    fn?.(failures);
  }
}
