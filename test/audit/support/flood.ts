/**
 * A process that records more than its standard output takes, closes its audit log, says on standard error what became
 * of the records, and exits. Arguments: how many records, queue size, time to close in milliseconds.
 */
import { writeSync } from "node:fs";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { auditOf, auditRecord, counts, memoryLog } from "./records.ts";

const [total = 0, queueSize = 0, closeTimeout = 0] = process.argv.slice(2).map(Number);
const metrics = createMetrics();
const log = memoryLog();
const audit = auditOf({ queue_size: queueSize }, { metrics, log }, { closeTimeout });

for (let i = 0; i < total; i++) {
  audit.record("ALLOW", () => auditRecord({ request_id: String(i) }));
  if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 1));
}
writeSync(2, "recorded\n");
await audit.close();
writeSync(
  2,
  `${JSON.stringify({ ...(await counts(metrics)), messages: log.entries.map(({ message }) => message) })}\n`,
);
process.exit(0);
