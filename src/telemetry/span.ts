import type { TraceParent } from "./traceparent.ts";

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One timed piece of work. */
export interface Span {
  /** False: what is said of it goes nowhere, and need not be put together. */
  readonly recording: boolean;
  /** The traceparent for requests made on its behalf; absent where there is no trace. */
  readonly traceparent?: string;
  /** Ends it, once; `failed` marks it as an error. */
  end(attributes?: SpanAttributes, failed?: boolean): void;
}

export interface Tracing {
  /**
   * Starts a span.
   *
   * @param traceparent - of the request, as received: it is continued where it says that the trace is sampled, and
   *   followed where it says that it is not. Without one (or with an invalid one), the ratio decides.
   */
  span(name: string, traceparent: string | undefined, attributes?: SpanAttributes): Span;
  /** Sends what is left, for some seconds at most. Never rejects. */
  shutdown(): Promise<void>;
}

export interface TracingOptions {
  /** OTLP over HTTP: the collector's address, e.g. `http://127.0.0.1:4318`; `/v1/traces` is added where there is no path. */
  readonly endpoint?: string;
  /** Share of the requests without a trace of their own that are traced, 0 to 1. */
  readonly sampleRatio: number;
  readonly serviceName: string;
  /** How long `shutdown` waits, milliseconds; 3,000. */
  readonly shutdownTimeout?: number;
  /** Told when spans cannot be sent. */
  readonly log?: { warn(fields: object, message: string): void };
}

/** What really makes spans: only sampled ones get there. */
export interface SpanSource {
  start(name: string, parent: TraceParent | undefined, attributes: SpanAttributes): Span;
  shutdown(): Promise<void>;
}
