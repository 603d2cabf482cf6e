import assert from "node:assert/strict";
import { hex, startCollector, type ExportedSpan } from "../../support/collector.ts";
import { eventually } from "../../support/eventually.ts";
import { sendHttp2 } from "../../support/http2-request.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

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

  it("hold URLs without what a query says, whoever answers and whatever is asked for", async () => {
    const before = collector.spans().length;
    const grpc = { "content-type": "application/grpc", te: "trailers" };
    const paths = [
      "/x?k=s3cret",
      "/nowhere?k=s3cret",
      "/x?k=s3cret&k=%73%33cret",
      "/x?s3cret",
      "/x%2f?k=s3cret",
    ];
    for (const path of paths) {
      await sendRaw(gateway.port, rawGet(path));
      await sendRaw(gateway.port, rawGet(`http://app.test${path}`));
      await sendHttp2(gateway.url, { ":path": path, ":authority": "app.test" });
      await sendHttp2(gateway.url, { ":path": path, ":authority": "app.test", ...grpc });
    }
    await sendRaw(gateway.port, rawGet("/x?k=s3cret", ["Connection: Upgrade", "Upgrade: websocket"]));
    await fetch(`${gateway.url}/x?k=s3cret&last=1`, { headers: { "user-agent": "the last one" } });
    const valuesOf = (span: ExportedSpan) =>
      (span.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0] as unknown] as const);
    const urls = await eventually("Envoy's spans, the last one too", () => {
      const attributes = collector.spans().slice(before).flatMap(valuesOf);
      const found = attributes.filter(([key]) => key === "http.url");
      const last = attributes.some(([, value]) => value === "the last one");
      return last && found.length > 2 * paths.length ? found : undefined;
    });
    assert.deepEqual(
      urls.filter(([, url]) => !/^http:\/\/[^/?]+\/(x|nowhere|x%2f)$/.test(String(url))),
      [],
    );
    assert.ok(!JSON.stringify(collector.spans()).includes("s3cret"));
    assert.ok(
      upstream.seen.some(({ url }) => url.includes("s3cret")),
      "the application gets it",
    );
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
