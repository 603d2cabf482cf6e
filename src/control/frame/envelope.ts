import type { ApiError } from "../errors.ts";
import type { Warning } from "../warnings.ts";
import type { Pagination } from "./route.ts";

/** Specification 2.1. */
export function successEnvelope(
  data: unknown,
  requestId: string,
  now: Date,
  {
    pagination,
    warnings = [],
  }: { readonly pagination?: Pagination; readonly warnings?: readonly Warning[] } = {},
): object {
  return {
    success: true,
    data,
    ...(pagination && { pagination }),
    ...(warnings.length > 0 && { warnings }),
    meta: meta(requestId, now),
  };
}

/** Specification 7. */
export function errorEnvelope({ code, message, details }: ApiError, requestId: string, now: Date): object {
  return { success: false, error: { code, message, details }, meta: meta(requestId, now) };
}

/** What every envelope says about its request. */
export function meta(requestId: string, now: Date): object {
  return { timestamp: now.toISOString(), request_id: requestId };
}
