import type { Span, SpanSource, Tracing, TracingOptions } from "./span.ts";
import { parseTraceparent } from "./traceparent.ts";

export type { Span, SpanAttributes, SpanSource, Tracing, TracingOptions } from "./span.ts";
export { parseTraceparent, traceIdOf, type TraceParent } from "./traceparent.ts";

const UNTRACED: Span = { recording: false, end: () => undefined };

const OFF: Tracing = { span: () => UNTRACED, shutdown: () => Promise.resolve() };

/**
 * Starts tracing. Without an endpoint nothing is loaded and a span costs a function call; a span that is not sampled costs
 * little more.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  if (options.endpoint === undefined) return OFF;
  const { startSpanSource } = await import("./span-source.ts");
  const source = startSpanSource({ ...options, endpoint: options.endpoint });
  return sampled(source, options.sampleRatio);
}

function sampled(source: SpanSource, ratio: number): Tracing {
  return {
    span(name, traceparent, attributes = {}) {
      const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
      if (parent === undefined)
        return Math.random() < ratio ? source.start(name, undefined, attributes) : UNTRACED;
      if (parent.sampled) return source.start(name, parent, attributes);
      return { ...UNTRACED, ...(traceparent !== undefined && { traceparent }) };
    },
    shutdown: () => source.shutdown(),
  };
}
