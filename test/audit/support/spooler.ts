/**
 * A process that appends numbered lines to a spool, ten at a time, and says on standard output what was acknowledged.
 * Arguments: the folder, how many lines, how long each is, what then (`once`: tries what failed no more than five times
 * in a row; `hold`: keeps the folder), and the first number.
 */
import { writeSync } from "node:fs";
import { Spool } from "../../../src/audit/spool.ts";

const [directory = "", total = "0", length = "20", then = "", first = "0"] = process.argv.slice(2);
const spool = await Spool.open({ directory, maxBytes: 1e9 });
writeSync(1, "open\n");
let next = Number(first);
let failures = 0;
while (next < Number(total) && failures < 5) {
  const lines = Array.from(
    { length: Math.min(10, Number(total) - next) },
    (_, n) => `${String(next + n).padStart(Number(length) - 1, "0")}\n`,
  );
  const { written, error } = await spool.append(lines);
  next += written;
  if (error !== undefined) writeSync(1, `error ${error.code}\n`);
  failures = error === undefined || then !== "once" ? 0 : failures + 1;
  if (then !== "once") writeSync(1, `written ${next}\n`);
}
if (then === "hold") await new Promise((resolve) => process.stdin.once("end", resolve).resume());
await spool.close();
writeSync(1, `written ${next}\n`);
