import assert from "node:assert/strict";
import { QueuedAuditLog, type QueueOptions } from "../../src/audit/audit-log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { DISK_FULL, FaultyDestination } from "./support/fault.ts";
import { auditRecord, counts, memoryLog } from "./support/records.ts";

function queue(options: Partial<QueueOptions>) {
  const destination = new FaultyDestination();
  const metrics = createMetrics();
  const audit = new QueuedAuditLog(
    { level: "warn", queueSize: 1_000, queueBytes: 64 * 2 ** 20, closeTimeout: 20, ...options },
    { destination, metrics, log: memoryLog() },
  );
  const refuse = (count: number) =>
    Array.from({ length: count }, () => audit.recordRefusal(() => auditRecord({ decision: "DENY" })));
  return { audit, destination, metrics, refuse };
}

describe("audit: records of refusals", () => {
  it("are decisions, written at level warn, too", async () => {
    const { audit, destination, metrics, refuse } = queue({});
    assert.deepEqual(refuse(3), [true, true, true]);
    await audit.close();
    assert.equal(destination.lines.length, 3);
    assert.deepEqual(await counts(metrics), { recorded: 3, queued: 0, dropped: 0, causes: {} });
  });

  it("fill half of the queue, and leave the rest to decisions", async () => {
    const { audit, destination, metrics, refuse } = queue({ queueSize: 10, refusalRate: 1_000 });
    destination.broken = DISK_FULL;
    assert.equal(refuse(8).filter(Boolean).length, 5);
    assert.equal(audit.accepting(), true);
    for (let left = 5; left > 0; left -= 1)
      assert.equal(
        audit.record("DENY", () => auditRecord()),
        true,
      );
    assert.deepEqual(await counts(metrics), {
      recorded: 0,
      queued: 10,
      dropped: 3,
      causes: { queue_full: 3 },
    });
    destination.broken = undefined;
    await audit.close();
  });

  it("are no more than their rate, and what is over is counted", async () => {
    const { audit, metrics, refuse } = queue({ refusalRate: 2 });
    refuse(100);
    await audit.close();
    const { recorded, dropped, causes } = await counts(metrics);
    assert.equal(recorded + dropped, 100);
    // ten seconds' worth; on a slow machine, and that of what passed meanwhile
    assert.ok(recorded >= 20 && recorded < 50, String(recorded));
    assert.deepEqual(Object.keys(causes), ["rate"]);
  });
});
