// Runs the tests several times in a row, the first of them beside a program that keeps every core busy: `make test-again`. Or
// these files only: node test/support/run-again.ts test/e2e/processes/kill.test.ts
// What a run printed that failed stays in coverage/run-<number>.log.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, openSync, closeSync, globSync } from "node:fs";
import { availableParallelism } from "node:os";

const RUNS = Number(process.env["RUNS"] ?? 10);
const BUSY = Number(process.env["BUSY"] ?? 3);

const named = process.argv.slice(2);
const files = named.length > 0 ? named : globSync("test/**/*.test.ts").sort();
const mocha = ["--parallel", "--jobs", "4", "--require", "./test/support/side-by-side.ts", ...files];

mkdirSync("coverage", { recursive: true });
for (let number = 1; number <= RUNS; number++) {
  const busy = number <= BUSY ? keepBusy() : [];
  const log = openSync(`coverage/run-${number}.log`, "w");
  const started = Date.now();
  const { status } = spawnSync("mocha", mocha, { stdio: ["ignore", log, log] });
  closeSync(log);
  for (const program of busy) program.kill();
  const seconds = Math.round((Date.now() - started) / 1000);
  const beside = busy.length > 0 ? ", beside a busy program" : "";
  process.stdout.write(`run ${number}: ${status === 0 ? "passed" : "FAILED"} in ${seconds} s${beside}\n`);
  if (status !== 0) process.exitCode = 1;
}

/** One process for each core that never rests. */
function keepBusy() {
  return Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
}
