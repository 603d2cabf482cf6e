import type { ErrorCode } from "./api.ts";

/** Anything that this library throws. */
export class GatehouseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The client or a helper was set up or called in a way that cannot work. */
export class ConfigurationError extends GatehouseError {}

/** No complete response arrived, and no attempts are left. */
export class NetworkError extends GatehouseError {}

/** The call took longer than its `timeoutMs`. */
export class DeadlineExceededError extends GatehouseError {}

/** What an error response says. */
export interface ApiErrorParts {
  /** One of `ERROR_CODES`, or one that a later server knows; `UNREADABLE_RESPONSE` for what is not the API's JSON. */
  readonly code: ErrorCode | "UNREADABLE_RESPONSE" | (string & {});
  readonly status: number;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** An error response of the API. Compare `code`; `message` is for people and may change. */
export class ApiError extends GatehouseError {
  readonly code: ApiErrorParts["code"];
  readonly status: number;
  /** Quote it when you ask for help. */
  readonly requestId: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;

  constructor(parts: ApiErrorParts) {
    super(parts.message);
    this.code = parts.code;
    this.status = parts.status;
    this.requestId = parts.requestId;
    this.details = parts.details ?? {};
    this.retryAfterMs = parts.retryAfterMs;
  }
}

/** 401: no valid key, session, code or refresh token. */
export class AuthenticationError extends ApiError {}
/** 403 */
export class PermissionDeniedError extends ApiError {}
/** 404 */
export class NotFoundError extends ApiError {}
/** 409 */
export class ConflictError extends ApiError {}
/** `CURSOR_EXPIRED` (410): events after the cursor may be missing. Read the feed from the beginning and skip what you know, or from `latest`. */
export class CursorExpiredError extends ApiError {}
/** 412: the resource has changed since the ETag in `ifMatch`. */
export class PreconditionFailedError extends ApiError {}
/** 429 */
export class RateLimitError extends ApiError {}
/** 5xx */
export class ServerError extends ApiError {}

/** 422: the request was read, but is not valid. */
export class ValidationError extends ApiError {
  /** The invalid fields of the body. */
  get fields(): readonly { readonly path: string; readonly message: string }[] {
    const { fields } = this.details;
    return Array.isArray(fields) ? (fields as { path: string; message: string }[]) : [];
  }
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: ValidationError,
  429: RateLimitError,
};

/** The error of the class that its status or code has. */
export function apiError(parts: ApiErrorParts): ApiError {
  if (parts.code === "CURSOR_EXPIRED") return new CursorExpiredError(parts);
  const Kind = BY_STATUS[parts.status] ?? (parts.status >= 500 ? ServerError : ApiError);
  return new Kind(parts);
}
