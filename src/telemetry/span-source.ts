import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { inTime } from "../runtime/in-time.ts";
import type { TraceParent } from "./traceparent.ts";
import type { Span, SpanAttributes, SpanSource, TracingOptions } from "./span.ts";

/**
 * Starts the OpenTelemetry SDK of this process: spans in batches to one OTLP/HTTP endpoint, and nothing else (no
 * metrics, logs or instrumentation). Loaded only by `tracing.ts`, and only if an endpoint is configured.
 */
export function startSpanSource(options: TracingOptions & { readonly endpoint: string }): SpanSource {
  const { log, serviceName, shutdownTimeout = 3_000 } = options;
  if (log !== undefined) reportTo(log);
  const sdk = new NodeSDK({
    serviceName,
    traceExporter: new OTLPTraceExporter({ url: tracesUrl(options.endpoint) }),
    autoDetectResources: false,
    textMapPropagator: null,
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  const tracer = trace.getTracer("gatehouse");

  return {
    start(name, parent, attributes) {
      const context = parent === undefined ? ROOT_CONTEXT : remoteContext(parent);
      return new RecordedSpan(tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, context));
    },
    async shutdown() {
      // the SDK has already reported spans that it could not send
      await inTime(
        sdk.shutdown().catch(() => undefined),
        shutdownTimeout,
        undefined,
      );
      trace.disable();
      diag.disable();
    },
  };
}

class RecordedSpan implements Span {
  readonly recording: boolean;
  readonly traceparent: string;
  readonly #span: ReturnType<ReturnType<typeof trace.getTracer>["startSpan"]>;

  constructor(span: ReturnType<ReturnType<typeof trace.getTracer>["startSpan"]>) {
    this.#span = span;
    this.recording = span.isRecording();
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  }

  end(attributes: SpanAttributes = {}, failed = false, name?: string): void {
    if (name !== undefined) this.#span.updateName(name);
    this.#span.setAttributes(attributes);
    if (failed) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}

function remoteContext({ traceId, spanId }: TraceParent): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}

/** OTLP/HTTP: for an address without a path, the default path for traces is used. */
function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (url.pathname === "/") url.pathname = "/v1/traces";
  return url.href;
}

function reportTo(log: { warn(fields: object, message: string): void }): void {
  const warn = (reason: string) => {
    log.warn({ reason }, "could not export spans");
  };
  const ignore = () => undefined;
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
