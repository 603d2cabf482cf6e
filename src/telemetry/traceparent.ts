/** The fields of a W3C traceparent header. */
export interface TraceParent {
  /** 32 and 16 hex digits, lower case. */
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** W3C Trace Context level 1, section 3.2.2: version, trace-id, parent-id, trace-flags; later versions may add more. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ALL_ZERO = /^0+$/;

/** Parses a traceparent strictly; undefined for one that must be ignored (sections 3.2.2.3 to 3.2.2.5). */
export function parseTraceparent(header: string): TraceParent | undefined {
  const [, version = "", traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(header) ?? [];
  if (version === "" || version === "ff") return undefined;
  if (version === "00" && more !== undefined) return undefined;
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The trace id of a traceparent, undefined for an invalid one. */
export function traceIdOf(header: string): string | undefined {
  return parseTraceparent(header)?.traceId;
}
