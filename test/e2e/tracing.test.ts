import assert from "node:assert/strict";
import { hex, startCollector } from "../support/collector.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { startRecordingUpstream, type RecordingUpstream } from "../support/recording-upstream.ts";

describe("end to end: traces", () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [collector, upstream, issuer] = await Promise.all([
      startCollector(),
      startRecordingUpstream(),
      startIssuer(),
    ]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": 'policies:\n  - { resource: GET /x, condition: "true" }\n' },
      config: { telemetry: { port: 0, tracing: { endpoint: collector.endpoint, sample_ratio: 1 } } },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([upstream.close(), issuer.close()]);
    collector.close();
  });

  it("of the client, Envoy, the decision and the upstream are one", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    await fetch(`${gateway.url}/x`, { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } });
    const check = await eventually("the span of the check", () =>
      collector.spans().find((span) => span.name === "gatehouse.check" && hex(span.traceId) === traceId),
    );
    const envoys = await eventually("Envoy's span, which is its parent", () =>
      collector.spans().find((span) => span.spanId === check.parentSpanId),
    );
    assert.equal(hex(envoys.traceId), traceId);
    assert.match(String(upstream.seen.at(-1)!.headers["traceparent"]), new RegExp(`^00-${traceId}-`));
    const record = await eventually("the record", async () =>
      (await gateway.audit()).find((line) => line["trace_id"] === traceId),
    );
    assert.equal(record.decision, "ALLOW");
  });

  it("that the client does not sample leave no span", async () => {
    const traceId = "1af7651916cd43dd8448eb211c80319c";
    await fetch(`${gateway.url}/x`, { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-00` } });
    const sampled = "2af7651916cd43dd8448eb211c80319c";
    await fetch(`${gateway.url}/x`, { headers: { traceparent: `00-${sampled}-b7ad6b7169203331-01` } });
    await eventually("a later span", () => collector.spans().some((span) => hex(span.traceId) === sampled));
    assert.ok(!collector.spans().some((span) => hex(span.traceId) === traceId));
  });
});
