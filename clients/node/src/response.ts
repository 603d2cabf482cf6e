import type { Pagination, Warning } from "./api.ts";
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

export type ApiBody =
  | {
      readonly success: true;
      readonly data: unknown;
      readonly pagination?: Pagination;
      readonly warnings?: readonly Warning[];
      readonly meta?: { readonly request_id: string };
    }
  | {
      readonly success: false;
      readonly error: {
        readonly code: string;
        readonly message: string;
        readonly details: Readonly<Record<string, unknown>>;
      };
      readonly meta?: { readonly request_id: string };
    };

/** @returns undefined for anything that is not the API's envelope */
export function readBody(text: string): ApiBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<ApiBody> | null;
    if (body?.success === true && "data" in body) return body as ApiBody;
    if (body?.success === false && typeof body.error?.code === "string") return body as ApiBody;
  } catch {
    // an answer of something in between
  }
  return undefined;
}

export function responseOf(
  { status, headers }: Response,
  body: ApiBody | undefined,
  attempts: number,
): ApiResponse {
  return {
    status,
    requestId: body?.meta?.request_id ?? headers.get("x-request-id") ?? undefined,
    etag: headers.get("etag") ?? undefined,
    rateLimit: rateLimitOf(headers),
    retryAfterMs: retryAfterMs(headers.get("retry-after"), Date.now()),
    warnings: body?.success === true ? (body.warnings ?? []) : [],
    attempts,
    nextCursor: headers.get("x-next-cursor") ?? undefined,
  };
}

function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  );
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  if (Number.isNaN(limit + remaining + reset)) return undefined;
  return { limit, remaining, resetsAt: new Date(reset * 1000) };
}
