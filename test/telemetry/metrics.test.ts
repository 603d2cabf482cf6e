import assert from "node:assert/strict";
import { createMetrics } from "../../src/telemetry/metrics.ts";

describe("telemetry: metrics", () => {
  it("keeps instances apart", async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.auditRecorded.inc(3);
    assert.match(await one.registry.metrics(), /^gatehouse_audit_recorded_total 3$/m);
    assert.match(await other.registry.metrics(), /^gatehouse_audit_recorded_total 0$/m);
  });
});
