import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import protobuf from "protobufjs";
import { startTracing } from "../../src/telemetry/tracing.ts";

/** The part of opentelemetry/proto/collector/trace/v1 that is looked at. */
const OTLP = protobuf
  .parse(
    `
  syntax = "proto3";
  message Export { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; uint32 kind = 6;
    repeated KeyValue attributes = 9; Status status = 15;
  }
  message Status { uint32 code = 3; }
  message KeyValue { string key = 1; Value value = 2; }
  message Value { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; } }
`,
  )
  .root.lookupType("Export");

interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes?: readonly { key: string; value: object }[];
  readonly status?: { code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

/** An OTLP/HTTP collector that keeps what it gets; with `silent`, it never answers. */
async function startCollector({ silent = false } = {}) {
  const exports: Export[] = [];
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push(`${request.method} ${request.url} ${request.headers["content-type"]}`);
      const message = OTLP.decode(Buffer.concat(chunks));
      exports.push(OTLP.toObject(message, { bytes: String, longs: Number }) as Export);
      if (!silent) response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    exports,
    spans: () =>
      exports.flatMap((one) => one.resourceSpans.flatMap((r) => r.scopeSpans.flatMap((s) => s.spans))),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function hex(base64: string | undefined): string {
  return Buffer.from(base64 ?? "", "base64").toString("hex");
}

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
      warnings.some((warning) => warning.includes("spans could not be sent")),
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
