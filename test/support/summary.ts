// Prints what all runs of mocha came to: the slowest tests, those that failed, and last the totals. Where the end of a long log
// is all that is kept, it says enough. With `--totals`, only those that failed and the totals.
import { globSync, readFileSync } from "node:fs";
import { LEFT_OUT, RESULTS, SLOWEST, type Results } from "./results.ts";

const runs = globSync(`${RESULTS}/*.json`).map((file) => JSON.parse(readFileSync(file, "utf8")) as Results);
const sum = (key: "passes" | "failures") => runs.reduce((total, run) => total + run[key], 0);

if (!process.argv.includes("--totals")) {
  for (const [what, key] of [
    ["tests", "slowest"],
    ["files", "files"],
  ] as const) {
    const slowest = runs.flatMap((run) => run[key]).sort((a, b) => b.ms - a.ms);
    process.stdout.write(`\nthe slowest ${what}\n`);
    for (const { title, ms } of slowest.slice(0, SLOWEST))
      process.stdout.write(`${(ms / 1000).toFixed(1).padStart(6)} s  ${title}\n`);
  }
  for (const file of globSync(`${RESULTS}/*${LEFT_OUT}`).sort())
    process.stdout.write(`\nLEFT OUT ${readFileSync(file, "utf8")}`);
}
for (const failure of runs.flatMap((run) => run.failed)) process.stdout.write(`\n${failure}\n`);
// no run is no success
process.stdout.write(`${sum("passes")} passed, ${runs.length === 0 ? 1 : sum("failures")} failed\n`);
