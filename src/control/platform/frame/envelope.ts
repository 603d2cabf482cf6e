import type { ErrorEnvelope, SuccessEnvelope } from "../../../protocol/index.ts";
import type { ApiError } from "../errors.ts";
import type { Warning } from "../warnings.ts";
import type { Pagination } from "./route.ts";

/** Members that gateways do not read. */
type More = Readonly<Record<string, unknown>>;

/** Specification 2.1. */
export function successEnvelope(
  data: unknown,
  requestId: string,
  now: Date,
  {
    pagination,
    warnings = [],
  }: { readonly pagination?: Pagination; readonly warnings?: readonly Warning[] } = {},
): SuccessEnvelope & More {
  return {
    success: true,
    data,
    ...(pagination && { pagination }),
    ...(warnings.length > 0 && { warnings }),
    meta: meta(requestId, now),
  };
}

/** Specification 7. */
export function errorEnvelope(
  { code, message, details }: ApiError,
  requestId: string,
  now: Date,
): ErrorEnvelope & More {
  const error: ErrorEnvelope["error"] & More = { code, message, details };
  return { success: false, error, meta: meta(requestId, now) };
}

/** The parts of every envelope that describe its request. */
export function meta(requestId: string, now: Date): object {
  return { timestamp: now.toISOString(), request_id: requestId };
}
