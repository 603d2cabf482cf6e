import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTracing } from "../../src/telemetry/tracing.ts";
import { hex, startCollector } from "../support/collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

describe("telemetry: tracing", () => {
  it("continues a sampled trace, over OTLP", async () => {
    const collector = await startCollector();
    const tracing = await startTracing({
      endpoint: collector.endpoint,
      sampleRatio: 0,
      serviceName: "gatehouse-authz",
    });
    const span = tracing.span("check", `00-${TRACE}-${PARENT}-01`, { "http.request.method": "GET" });
    assert.equal(span.recording, true);
    span.end({ "gatehouse.decision": "DENY", "gatehouse.cached": false, "gatehouse.conditions": 3 }, true);
    await tracing.shutdown();
    collector.close();

    assert.deepEqual(collector.requests, ["POST /v1/traces application/x-protobuf"]);
    const [exported, ...others] = collector.spans();
    assert.ok(exported);
    assert.deepEqual(others, []);
    assert.equal(exported.name, "check");
    assert.equal(exported.kind, 2, "SPAN_KIND_SERVER");
    assert.equal(exported.status?.code, 2, "STATUS_CODE_ERROR");
    assert.deepEqual([hex(exported.traceId), hex(exported.parentSpanId)], [TRACE, PARENT]);
    assert.equal(span.traceparent, `00-${TRACE}-${hex(exported.spanId)}-01`);
    assert.deepEqual(exported.attributes, [
      { key: "http.request.method", value: { stringValue: "GET" } },
      { key: "gatehouse.decision", value: { stringValue: "DENY" } },
      { key: "gatehouse.cached", value: { boolValue: false } },
      { key: "gatehouse.conditions", value: { intValue: 3 } },
    ]);
    const resource = collector.exports[0]?.resourceSpans[0]?.resource.attributes;
    assert.deepEqual(
      resource?.find(({ key }) => key === "service.name"),
      { key: "service.name", value: { stringValue: "gatehouse-authz" } },
    );
  });

  it("follows a trace that is not sampled, and passes it on unchanged", async () => {
    const collector = await startCollector();
    const tracing = await startTracing({ endpoint: collector.endpoint, sampleRatio: 1, serviceName: "s" });
    const traceparent = `00-${TRACE}-${PARENT}-00`;
    const span = tracing.span("check", traceparent);
    assert.deepEqual([span.recording, span.traceparent], [false, traceparent]);
    span.end({ x: 1 });
    await tracing.shutdown();
    collector.close();
    assert.deepEqual(collector.spans(), []);
  });

  it("samples by the ratio without a trace, or with an invalid one", async () => {
    const collector = await startCollector();
    const { endpoint } = collector;
    const never = await startTracing({ endpoint, sampleRatio: 0, serviceName: "s" });
    for (let i = 0; i < 200; i++) never.span("never", undefined).end();
    never.span("never", `00-${TRACE}-${PARENT}`).end();
    await never.shutdown();

    const always = await startTracing({ endpoint, sampleRatio: 1, serviceName: "s" });
    always.span("root", undefined).end();
    always.span("root", `00-${"0".repeat(32)}-${PARENT}-01`).end();
    await always.shutdown();

    const half = await startTracing({ endpoint, sampleRatio: 0.5, serviceName: "s" });
    for (let i = 0; i < 400; i++) half.span("half", undefined).end();
    await half.shutdown();
    collector.close();

    const spans = collector.spans();
    assert.deepEqual(
      spans.filter(({ name }) => name === "never"),
      [],
    );
    const roots = spans.filter(({ name }) => name === "root");
    assert.equal(roots.length, 2);
    for (const root of roots) assert.deepEqual([hex(root.parentSpanId), hex(root.traceId).length], ["", 32]);
    const share = spans.filter(({ name }) => name === "half").length / 400;
    assert.ok(share > 0.3 && share < 0.7, `${share}`);
  });

  it("shuts down although the collector never answers", async () => {
    const collector = await startCollector({ silent: true });
    const { endpoint } = collector;
    const tracing = await startTracing({ endpoint, sampleRatio: 1, serviceName: "s", shutdownTimeout: 50 });
    tracing.span("check", undefined).end();
    await tracing.shutdown();
    collector.close();
  });

  it("reports that spans cannot be sent", async () => {
    const collector = await startCollector();
    collector.close();
    const warnings: string[] = [];
    const tracing = await startTracing({
      endpoint: `${collector.endpoint}/custom/path`,
      sampleRatio: 1,
      serviceName: "s",
      shutdownTimeout: 2_000,
      log: { warn: (fields, message) => void warnings.push(`${message}: ${JSON.stringify(fields)}`) },
    });
    tracing.span("check", undefined).end();
    await tracing.shutdown();
    assert.ok(
      warnings.some((warning) => warning.includes("could not export spans")),
      warnings.join("\n"),
    );
  });

  it("loads nothing and does nothing when off", async () => {
    const off = await startTracing({ sampleRatio: 1, serviceName: "s" });
    const span = off.span("check", `00-${TRACE}-${PARENT}-01`);
    assert.equal(span, off.span("another", undefined), "no object is made");
    assert.equal(span.recording, false);
    span.end({ a: 1 }, true);
    await off.shutdown();

    assert.deepEqual(await loadedBy("{ sampleRatio: 1, serviceName: 's' }"), []);
    const on = await loadedBy("{ endpoint: 'http://127.0.0.1:9', sampleRatio: 0, serviceName: 's' }");
    assert.ok(on.some((url) => url.includes("/@opentelemetry/sdk-node/")));
  });
});

/** Which modules of OpenTelemetry a process loads that starts tracing with these options. */
async function loadedBy(options: string): Promise<readonly string[]> {
  const module = join(import.meta.dirname, "../../src/telemetry/tracing.ts");
  const program = `
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
    const { startTracing } = await import(${JSON.stringify(module)});
    const tracing = await startTracing(${options});
    tracing.span("check", undefined).end();
    await tracing.shutdown();
    console.log(JSON.stringify(urls.filter((url) => url.includes("opentelemetry"))));
    process.exit(0);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  return JSON.parse(stdout) as string[];
}
