/**
 * A process that writes records to an audit log that other processes write to at the same time.
 * Arguments: its name, how many records, `stdout` or a file, and the file's maxBytes.
 * Its exit code says whether all were recorded.
 */
import { createAuditLog, type AuditDestination } from "../../../src/audit/index.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { auditRecord, counts } from "./records.ts";

const [name = "", total = "0", path = "stdout", maxBytes = "100000000"] = process.argv.slice(2);
const destination: AuditDestination =
  path === "stdout"
    ? { kind: "stdout" }
    : { kind: "file", path, maxBytes: Number(maxBytes), maxFiles: 10_000 };
const metrics = createMetrics();
const log = {
  info: () => undefined,
  error: (fields: object, message: string) =>
    void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};
const audit = createAuditLog({ enabled: true, level: "info", destination }, { metrics, log });

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
