import type { Pagination, Warning } from "./api.ts";
import { apiError, type ApiError } from "./errors.ts";
import { retryAfterMs } from "./retry.ts";

/** The state of the limit that the call counted towards. */
export interface RateLimit {
  /** Requests per minute. */
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAt: Date;
}

/** A response without its content. */
export interface ApiResponse {
  readonly status: number;
  readonly requestId: string | undefined;
  /** For `ifMatch`, and for `getIfChanged`. */
  readonly etag: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly retryAfterMs: number | undefined;
  /** The request was carried out, but may not have the intended effect. */
  readonly warnings: readonly Warning[];
  /** The number of requests that it took. */
  readonly attempts: number;
  readonly nextCursor: string | undefined;
}

interface Envelope {
  readonly requestId: string | undefined;
}

export type ApiBody =
  | (Envelope & {
      readonly success: true;
      readonly data: unknown;
      readonly pagination: Pagination | undefined;
      readonly warnings: readonly Warning[];
    })
  | (Envelope & {
      readonly success: false;
      readonly error: {
        readonly code: string;
        readonly message: string;
        readonly details: Readonly<Record<string, unknown>>;
      };
    });

/** @returns undefined for anything that is not the API's envelope; members of another type than the API's are left out */
export function readBody(text: string): ApiBody | undefined {
  const body = recordOf(parse(text));
  const requestId = textOf(recordOf(body["meta"])["request_id"]);
  if (body["success"] === true && "data" in body) {
    const { data, pagination, warnings } = body;
    return {
      ...{ success: true, requestId, data, pagination: isPagination(pagination) ? pagination : undefined },
      warnings: Array.isArray(warnings) ? (warnings as readonly Warning[]) : [],
    };
  }
  const error = recordOf(body["error"]);
  const code = textOf(error["code"]);
  if (body["success"] !== false || code === undefined) return undefined;
  const told = { code, message: textOf(error["message"]) ?? code, details: recordOf(error["details"]) };
  return { success: false, requestId, error: told };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // an answer of something in between
    return undefined;
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isPagination(value: unknown): value is Pagination {
  const { current_page, total_pages } = recordOf(value);
  return typeof current_page === "number" && typeof total_pages === "number";
}

export function responseOf(
  { status, headers }: Response,
  body: ApiBody | undefined,
  attempts: number,
): ApiResponse {
  return {
    status,
    requestId: body?.requestId ?? headers.get("x-request-id") ?? undefined,
    etag: headers.get("etag") ?? undefined,
    rateLimit: rateLimitOf(headers),
    retryAfterMs: retryAfterMs(headers.get("retry-after"), Date.now()),
    warnings: body?.success === true ? body.warnings : [],
    attempts,
    nextCursor: headers.get("x-next-cursor") ?? undefined,
  };
}

/** For a response that is not one of the API: of something in between, or of another server. */
export function unreadableResponse({ status, requestId, retryAfterMs: wait }: ApiResponse): ApiError {
  const message = `the response (${status}) is not one of the API`;
  return apiError({ code: "UNREADABLE_RESPONSE", status, message, requestId, retryAfterMs: wait });
}

function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [limit = NaN, remaining = NaN, reset = NaN] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? NaN),
  );
  const resetsAt = new Date(reset * 1000);
  // also a time that no date has
  return Number.isNaN(limit + remaining + resetsAt.getTime()) ? undefined : { limit, remaining, resetsAt };
}
