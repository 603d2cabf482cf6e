import assert from "node:assert/strict";
import { ControlPlaneClient, StatisticsReporter } from "../../src/sync/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { silentLog } from "../decision/support.ts";
import { FakeControlPlane } from "../support/fake-control-plane.ts";

interface Report {
  readonly instance: string;
  readonly sequence: number;
  readonly from: string;
  readonly to: string;
  readonly caches: { name: string; hits: number; misses: number; evictions: number }[];
  readonly audit: { decided: number; recorded: number; dropped: number };
}

describe("following: statistics", () => {
  let plane: FakeControlPlane;
  let client: ControlPlaneClient;
  let metrics: Metrics;
  let warnings: number;
  let now: number;

  beforeEach(async () => {
    plane = await FakeControlPlane.start();
    client = new ControlPlaneClient(plane.options);
    metrics = createMetrics();
    warnings = 0;
    now = Date.parse("2026-01-01T00:00:00Z");
  });
  afterEach(async () => {
    client.close();
    await plane.close();
  });

  const reporterOf = () =>
    new StatisticsReporter("worker-0", {
      client,
      metrics,
      log: { ...silentLog, warn: () => (warnings += 1) },
      clock: () => now,
    });
  const reports = () => plane.statistics as unknown as Report[];

  it("warns once while reports are refused for their time, counts them, and does not send them again", async () => {
    const reporter = reporterOf();
    const warned: number[] = [];
    for (const reason of ["DUPLICATE", "CLOCK_AHEAD", "CLOCK_AHEAD", undefined, "TOO_OLD"]) {
      plane.statisticsAnswer = reason === undefined ? { accepted: true } : { accepted: false, reason };
      metrics.auditRecorded.inc();
      await reporter.report();
      warned.push(warnings);
    }
    assert.deepEqual(warned, [0, 1, 1, 1, 2]);
    assert.deepEqual(
      reports().map(({ sequence, audit }) => [sequence, audit.recorded]),
      [1, 2, 3, 4, 5].map((sequence) => [sequence, 1]),
    );
    const refused = (await metrics.statisticsRefused.get()).values;
    assert.deepEqual(
      refused.map(({ labels, value }) => [labels.reason, value]),
      [
        ["CLOCK_AHEAD", 2],
        ["TOO_OLD", 1],
      ],
    );
  });

  it("tells the differences since the last report", async () => {
    const reporter = reporterOf();
    metrics.cacheHits.inc({ cache: "tokens" }, 5);
    metrics.cacheMisses.inc({ cache: "tokens" }, 2);
    metrics.cacheEvictions.inc({ cache: "decisions" }, 1);
    metrics.decisions.inc({ decision: "ALLOW", reason: "CONDITION_TRUE" }, 4);
    metrics.decisions.inc({ decision: "DENY", reason: "CONDITION_FALSE" }, 3);
    metrics.auditRecorded.inc(5);
    metrics.auditDropped.inc({ cause: "level" }, 1);
    metrics.auditDropped.inc({ cause: "queue_full" }, 1);
    now += 10_000;
    await reporter.report();
    metrics.cacheHits.inc({ cache: "tokens" }, 1);
    metrics.auditRecorded.inc();
    now += 10_000;
    await reporter.report();
    const [first, second] = reports();
    assert.deepEqual(first, {
      instance: first?.instance,
      sequence: 1,
      from: "2026-01-01T00:00:00.000Z",
      to: "2026-01-01T00:00:10.000Z",
      caches: [
        { name: "tokens", hits: 5, misses: 2, evictions: 0 },
        { name: "decisions", hits: 0, misses: 0, evictions: 1 },
      ],
      audit: { decided: 7, recorded: 5, dropped: 2 },
    });
    assert.deepEqual(second, {
      instance: first.instance,
      sequence: 2,
      from: "2026-01-01T00:00:10.000Z",
      to: "2026-01-01T00:00:20.000Z",
      caches: [{ name: "tokens", hits: 1, misses: 0, evictions: 0 }],
      audit: { decided: 0, recorded: 1, dropped: 0 },
    });
    assert.match(first.instance, /^worker-0-/);
  });

  it("says nothing where nothing has happened", async () => {
    const reporter = reporterOf();
    await reporter.report();
    assert.deepEqual(plane.asked, []);
  });

  it("sends a report as it is until it is acknowledged, so that each thing is counted once", async () => {
    const reporter = reporterOf();
    const counted = new Map<string, Report>();
    const step = async (fault: "lost" | "cut" | { status: number } | undefined) => {
      metrics.auditRecorded.inc();
      now += 10_000;
      plane.fault = () => fault;
      await reporter.report();
      for (const report of reports()) {
        const key = `${report.instance} ${report.sequence}`;
        assert.deepEqual(counted.get(key) ?? report, report, "the same under the same number");
        counted.set(key, report);
      }
    };
    for (const fault of [
      undefined,
      { status: 503 },
      "lost",
      { status: 429 },
      "cut",
      undefined,
      undefined,
    ] as const)
      await step(fault);
    const sent = [...counted.values()];
    assert.equal(
      sent.reduce((sum, { audit }) => sum + audit.recorded, 0),
      7,
    );
    assert.deepEqual(
      sent.map(({ sequence }) => sequence),
      [1, 2, 3],
    );
    for (const [n, report] of sent.slice(1).entries()) assert.equal(report.from, sent[n]?.to, "without gaps");
    assert.equal(warnings, 1);
  });

  it("gives up a report that is refused for what it says", async () => {
    const reporter = reporterOf();
    metrics.auditRecorded.inc();
    plane.fault = () => ({ status: 422, code: "VALIDATION_FAILED" });
    await reporter.report();
    plane.fault = () => undefined;
    metrics.auditRecorded.inc();
    await reporter.report();
    assert.deepEqual(
      reports().map(({ sequence, audit }) => [sequence, audit.recorded]),
      [[2, 1]],
    );
  });

  it("reports one at a time, and once more at the end", async () => {
    const reporter = reporterOf();
    reporter.start();
    metrics.auditRecorded.inc();
    await Promise.all([reporter.report(), reporter.report()]);
    assert.equal(reports().length, 1);
    metrics.auditRecorded.inc();
    await reporter.close();
    assert.equal(reports().length, 2);
  });

  it("calls two runs of one worker by two names", async () => {
    for (let run = 0; run < 2; run += 1) {
      metrics.auditRecorded.inc();
      await reporterOf().report();
    }
    assert.equal(new Set(reports().map(({ instance }) => instance)).size, 2);
  });

  describe("the last statistics of a process", () => {
    const told = () =>
      plane.statistics.reduce((sum, { audit }) => sum + (audit as { recorded: number }).recorded, 0);

    it("hold what was counted while an earlier report was under way", async () => {
      const reporter = reporterOf();
      metrics.auditRecorded.inc(2);
      const underWay = reporter.report();
      // its figures are taken by the first turn
      await new Promise((resolve) => setImmediate(resolve));
      metrics.auditRecorded.inc(3);
      await Promise.all([underWay, reporter.close()]);
      assert.equal(told(), 5);
    });

    it("hold what was counted since a report that failed", async () => {
      const reporter = reporterOf();
      metrics.auditRecorded.inc(2);
      plane.fault = () => ({ status: 503 });
      await reporter.report();
      plane.fault = () => undefined;
      metrics.auditRecorded.inc(3);
      await reporter.close();
      assert.equal(told(), 5);
    });
  });
});
