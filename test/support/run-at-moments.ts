// Runs the tests that depend on the clock at hours and days at which such code goes wrong: `make test-clocks`. Or these files
// only: node test/support/run-at-moments.ts test/control/sandbox/reset.test.ts
// Their processes see another time by libfaketime (https://github.com/wolfcw/libfaketime; on Debian the package `faketime`).
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { MOMENTS } from "./moments.ts";

const ROOMS = "{audit,cli,control,decision,sync,identity,customer-state,telemetry}";
/** Not about times and slow; or they compare the clock with that of the file system or of PostgreSQL, which stay as they are. */
const LEFT_OUT = [
  "control/whole-api/hostile-access",
  "control/whole-api/hostile-input",
  "control/analytics/records/kill",
  "control/clocks",
  "control/resources/policy-sets/compiler",
  "control/resources/policy-sets/routes",
  "audit/processes",
  "audit/spool",
  // Envoy stands still with libfaketime
  "cli/services",
];

const found = globSync(`test/${ROOMS}/**/*.test.ts`);
const leftOut = LEFT_OUT.map((name) => `test/${name}.test.ts`);
for (const file of leftOut)
  if (!found.includes(file)) throw new Error(`${file} is to be left out, but there is no such file`);
const all = found.filter((file) => !leftOut.includes(file)).sort();
const named = process.argv.slice(2);
const files = named.length > 0 ? named : all;

if (spawnSync("faketime", ["--version"]).error !== undefined) {
  process.stderr.write("`faketime` is missing: install libfaketime (on Debian: apt-get install faketime)\n");
  process.exit(2);
}
for (const moment of MOMENTS) {
  // a distance, not a time: processes that start later are later
  const seconds = Math.round((Date.parse(moment) - Date.now()) / 1000);
  process.stdout.write(`\n== ${moment}\n`);
  const mocha = [
    "mocha",
    "--parallel",
    "--jobs",
    "4",
    "--require",
    "./test/support/side-by-side.ts",
    ...files,
  ];
  const { status } = spawnSync("faketime", ["-f", `${seconds < 0 ? "" : "+"}${seconds}s`, ...mocha], {
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}
