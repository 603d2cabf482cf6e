import { asApiError } from "../../platform/frame/as-api-error.ts";

/** Every `error` of the OAuth endpoints, with its status: RFC 6749, section 5.2; RFC 6750, 3.1; RFC 7009, 2.2.1. */
const STATUS = {
  invalid_request: 400,
  invalid_scope: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_token_type: 400,
  invalid_client: 401,
  invalid_token: 401,
  insufficient_scope: 403,
  server_error: 500,
  temporarily_unavailable: 503,
} as const satisfies Record<string, number>;
export type OAuthErrorCode = keyof typeof STATUS;

interface OAuthErrorParts {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, never sent. */
  readonly cause?: unknown;
}

/** An error as sent by the OAuth endpoints. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: OAuthErrorCode, description: string, parts: OAuthErrorParts = {}) {
    super(description, { cause: parts.cause });
    this.name = "OAuthError";
    this.code = code;
    this.status = parts.status ?? STATUS[code];
    this.headers = parts.headers ?? {};
  }
}

/**
 * 401 with a scheme by which a client can authenticate (RFC 6749, section 5.2); it is not disclosed which part is
 * wrong.
 */
export function invalidClient(description = "the client is unknown, or its secret is invalid"): OAuthError {
  return new OAuthError("invalid_client", description, {
    headers: { "www-authenticate": 'Basic realm="gatehouse", charset="UTF-8"' },
  });
}

/** The error that the client gets for anything that was thrown, including errors of the frame. */
export function asOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const { status, message, headers, cause } = asApiError(error);
  const code =
    status === 429 || status === 503
      ? "temporarily_unavailable"
      : status < 500
        ? "invalid_request"
        : "server_error";
  return new OAuthError(code, message, { status, headers, cause: cause ?? error });
}

/** RFC 6749, section 5.2: the characters allowed in `error_description`. */
export function errorBody({ code, message }: OAuthError): object {
  return {
    error: code,
    error_description: message.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?").slice(0, 500),
  };
}
