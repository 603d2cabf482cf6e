import assert from "node:assert/strict";
import { ControlPlaneClient, StatisticsReporter } from "../../src/sync/index.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { silentLog } from "../decision/support.ts";
import { FakeControlPlane } from "../support/fake-control-plane.ts";

describe("review: the last statistics of a process", () => {
  let plane: FakeControlPlane;
  let client: ControlPlaneClient;

  beforeEach(async () => {
    plane = await FakeControlPlane.start();
    client = new ControlPlaneClient(plane.options);
  });
  afterEach(async () => {
    client.close();
    await plane.close();
  });

  const told = () =>
    plane.statistics.reduce((sum, { audit }) => sum + (audit as { recorded: number }).recorded, 0);

  it("hold what was counted while an earlier report was under way", async () => {
    const metrics = createMetrics();
    const reporter = new StatisticsReporter("worker-0", { client, metrics, log: silentLog });
    metrics.auditRecorded.inc(2);
    const underWay = reporter.report();
    // its figures are taken by the first turn
    await new Promise((resolve) => setImmediate(resolve));
    metrics.auditRecorded.inc(3);
    await Promise.all([underWay, reporter.close()]);
    assert.equal(told(), 5);
  });

  it("hold what was counted since a report that failed", async () => {
    const metrics = createMetrics();
    const reporter = new StatisticsReporter("worker-0", { client, metrics, log: silentLog });
    metrics.auditRecorded.inc(2);
    plane.fault = () => ({ status: 503 });
    await reporter.report();
    plane.fault = () => undefined;
    metrics.auditRecorded.inc(3);
    await reporter.close();
    assert.equal(told(), 5);
  });
});
