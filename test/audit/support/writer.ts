/**
 * A process that writes records to an audit log that other processes write to at the same time.
 * Arguments: its name, how many records, `stdout` or a file, and the size at which it is rotated.
 * Its exit code says whether all were recorded.
 */
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { auditOf, auditRecord, counts } from "./records.ts";

const [name = "", total = "0", path = "stdout", maxBytes = "100000000"] = process.argv.slice(2);
const destination =
  path === "stdout"
    ? ({ destination: "stdout" } as const)
    : ({ destination: "file", path, max_file_size: Number(maxBytes), max_files: 10_000 } as const);
const metrics = createMetrics();
const log = {
  info: () => undefined,
  error: (fields: object, message: string) =>
    void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};
const audit = auditOf(destination, { metrics, log });

for (let i = 0; i < Number(total); i++) {
  // lines of different lengths, so that borders fall everywhere
  audit.record("ALLOW", () =>
    auditRecord({ request_id: `${name}-${i}`, detail: "x".repeat((i * 37) % 700) }),
  );
  if (i % 50 === 49) await audit.flush();
}
await audit.close();
const { recorded, dropped } = await counts(metrics);
process.exit(recorded === Number(total) && dropped === 0 ? 0 : 1);
