import type { TraceParent } from "./traceparent.ts";

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A timed operation. */
export interface Span {
  /** False: attributes are discarded, so there is no need to build them. */
  readonly recording: boolean;
  /** The traceparent for requests made on its behalf; absent if there is no trace. */
  readonly traceparent?: string;
  /** Ends it, once; `failed` marks it as an error. `name` replaces the name, if it is known only now. */
  end(attributes?: SpanAttributes, failed?: boolean, name?: string): void;
}

export interface Tracing {
  /**
   * Starts a span.
   *
   * @param traceparent - of the request, as received. Its sampled flag decides whether the trace is continued. Without a
   *   valid one, the ratio decides.
   */
  span(name: string, traceparent: string | undefined, attributes?: SpanAttributes): Span;
  /** Sends the remaining spans, within a few seconds. Never rejects. */
  shutdown(): Promise<void>;
}

export interface TracingOptions {
  /** OTLP over HTTP: the collector's address, e.g. `http://127.0.0.1:4318`; `/v1/traces` is added if there is no path. */
  readonly endpoint?: string;
  /** Fraction of the requests without a traceparent that are traced, 0 to 1. */
  readonly sampleRatio: number;
  readonly serviceName: string;
  /** How long `shutdown` waits, in milliseconds. Default: 3,000. */
  readonly shutdownTimeout?: number;
  /** Logs spans that cannot be sent. */
  readonly log?: { warn(fields: object, message: string): void };
}

/** Creates the actual spans; only called for sampled ones. */
export interface SpanSource {
  start(name: string, parent: TraceParent | undefined, attributes: SpanAttributes): Span;
  shutdown(): Promise<void>;
}
