import assert from "node:assert/strict";
import { Gauge } from "prom-client";
import { aggregateMetrics, type MetricsJson } from "../../src/telemetry/aggregate.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

/** What a worker's metrics are after their way through the channel between the processes. */
async function sent(metrics: ReturnType<typeof createMetrics>): Promise<MetricsJson> {
  return JSON.parse(JSON.stringify(await metrics.registry.getMetricsAsJSON())) as MetricsJson;
}

describe("telemetry: aggregate", () => {
  it("keeps the series of the workers apart, and the supervisor's own", async () => {
    const [zero, one, own] = [createMetrics(), createMetrics(), createMetrics()];
    zero.decisions.inc({ decision: "DENY", reason: "NO_MATCHING_RULE" }, 2);
    one.decisions.inc({ decision: "DENY", reason: "NO_MATCHING_RULE" }, 5);
    own.processRestarts.inc({ process: "worker" });
    const text = await aggregateMetrics(
      [
        { worker: "0", metrics: await sent(zero) },
        { worker: "1", metrics: await sent(one) },
      ],
      own.registry,
    );
    const lines = text.split("\n");
    const series = lines.filter((line) => line.startsWith("gatehouse_decisions_total"));
    assert.deepEqual(series, [
      'gatehouse_decisions_total{decision="DENY",reason="NO_MATCHING_RULE",worker="0"} 2',
      'gatehouse_decisions_total{decision="DENY",reason="NO_MATCHING_RULE",worker="1"} 5',
    ]);
    assert.ok(lines.includes('gatehouse_process_restarts_total{process="worker"} 1'));
    assert.equal(lines.filter((line) => line === "# TYPE gatehouse_decisions_total counter").length, 1);
    assert.ok(text.endsWith("\n"));
  });

  it("renders one worker's registry as prom-client does, but for the label", async () => {
    const metrics = createMetrics();
    metrics.decisionDuration.observe(0.0002);
    metrics.policySetInfo.set({ policy_set: 'a "quoted\\\n" name', digest: "00" }, 1);
    const text = await aggregateMetrics(
      [{ worker: "w", metrics: await sent(metrics) }],
      createMetrics().registry,
    );
    const seriesOf = (all: string) => all.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const unlabelled = seriesOf(text)
      .filter((line) => line.includes('worker="w"'))
      .map((line) => line.replace(/,?worker="w"/, "").replace("{}", ""));
    assert.deepEqual(unlabelled, seriesOf(await metrics.registry.metrics()));
  });

  it("writes numbers that JSON cannot say", async () => {
    const own = createMetrics();
    const gauge = (name: string, value: number) => {
      new Gauge({ name, help: "h", registers: [own.registry] }).set(value);
    };
    gauge("plus", Infinity);
    gauge("minus", -Infinity);
    gauge("none", Number.NaN);
    const text = await aggregateMetrics(
      [
        {
          worker: "0",
          metrics: [{ name: "lost", help: "a\nb", type: "gauge", values: [{ labels: {}, value: null }] }],
        },
      ],
      own.registry,
    );
    assert.match(text, /^plus \+Inf$/m);
    assert.match(text, /^minus -Inf$/m);
    assert.match(text, /^none NaN$/m);
    assert.match(text, /^# HELP lost a\\nb\n# TYPE lost gauge\nlost\{worker="0"\} NaN$/m);
  });
});
