import type { GatewayErrorCode } from "../../protocol/index.ts";

interface Entry {
  readonly status: number;
  readonly message: string;
}

/** Every error code of the API. The list is closed: clients match these codes and no others. */
export const ERROR_CODES = {
  // the request cannot be read
  MALFORMED_JSON: { status: 400, message: "the body is malformed or ambiguous JSON" },
  INVALID_PARAMETER: { status: 400, message: "a parameter of the path, the query or a header is malformed" },
  INVALID_STATE: { status: 400, message: "the state is unknown, used, expired or from another browser" },

  MALFORMED_REQUEST: { status: 400, message: "the request is not valid HTTP" },
  REQUEST_TIMEOUT: { status: 408, message: "timed out while receiving the request" },
  HEADERS_TOO_LARGE: { status: 431, message: "the request's headers and path are too large" },

  // who the caller is
  UNAUTHORIZED: { status: 401, message: "a valid API key or dashboard session is required" },
  API_KEY_EXPIRED: { status: 401, message: "the API key has expired" },
  API_KEY_ROLLED: {
    status: 401,
    message: "the API key was replaced, and its overlap has ended: use the new key",
  },
  API_KEY_REVOKED: { status: 401, message: "the API key was revoked" },
  WRONG_ENVIRONMENT: { status: 401, message: "the API key belongs to the other environment" },
  INVALID_CREDENTIALS: { status: 401, message: "incorrect e-mail address or password" },
  INVALID_LINK: { status: 401, message: "the link is unknown, used or expired" },
  INVALID_CODE: {
    status: 401,
    message: "the code is unknown, used, expired or not for this customer",
  },
  INVALID_REFRESH_TOKEN: { status: 401, message: "the refresh token is unknown, used, expired or revoked" },
  SESSION_ENDED: { status: 401, message: "the session has ended" },

  // permissions
  INSUFFICIENT_SCOPE: { status: 403, message: "the API key's scope does not permit this" },
  INSUFFICIENT_ROLE: { status: 403, message: "the dashboard user's role does not permit this" },
  CUSTOMER_KEY_NOT_ALLOWED: { status: 403, message: "the API key is limited to one customer" },
  ADDRESS_NOT_ALLOWED: { status: 403, message: "the API key may not be used from this address" },
  CSRF_TOKEN_INVALID: { status: 403, message: "the CSRF token is missing or belongs to another session" },
  CUSTOMER_SUSPENDED: { status: 403, message: "the customer is suspended or archived" },
  USER_SUSPENDED: { status: 403, message: "the user is suspended" },
  POLICY_VIOLATED: { status: 403, message: "a policy of the customer forbids this" },

  // not found
  NOT_FOUND: { status: 404, message: "no resource at this path" },
  INVALID_CUSTOMER: { status: 404, message: "the customer does not exist" },
  POLICY_NOT_FOUND: { status: 404, message: "the policy does not exist" },
  BULK_ASSIGNMENT_NOT_FOUND: { status: 404, message: "the assignment to many customers does not exist" },
  POLICY_SET_NOT_FOUND: { status: 404, message: "the policy set or its version does not exist" },
  ROLLOUT_NOT_FOUND: { status: 404, message: "the policy set has had no rollout" },
  USER_NOT_FOUND: { status: 404, message: "the user does not exist" },
  SESSION_NOT_FOUND: { status: 404, message: "the session does not exist" },
  WEBHOOK_NOT_FOUND: { status: 404, message: "the webhook does not exist" },
  DELIVERY_NOT_FOUND: { status: 404, message: "the delivery does not exist" },
  API_KEY_NOT_FOUND: { status: 404, message: "the API key does not exist" },
  CLIENT_NOT_FOUND: { status: 404, message: "the machine client does not exist" },
  DASHBOARD_USER_NOT_FOUND: { status: 404, message: "the dashboard user does not exist" },
  ERASURE_NOT_FOUND: { status: 404, message: "there is no erasure with this id" },
  PERSON_NOT_FOUND: { status: 404, message: "the person does not exist in the sandbox" },
  IDP_NOT_CONFIGURED: { status: 404, message: "the customer has no identity provider" },

  METHOD_NOT_ALLOWED: { status: 405, message: "method not allowed for this path" },
  NOT_ACCEPTABLE: { status: 406, message: "the API answers with JSON, which the request does not accept" },

  // conflicts with the current state
  CONFLICT: { status: 409, message: "the change conflicts with the current state" },
  DUPLICATE: { status: 409, message: "the name is already in use" },
  INVALID_TRANSITION: { status: 409, message: "this status change is not allowed" },
  VERSION_IMMUTABLE: { status: 409, message: "this version was already published with different content" },
  IDEMPOTENCY_CONFLICT: { status: 409, message: "a request with this Idempotency-Key is in progress" },
  PRECONDITION_FAILED: {
    status: 412,
    message: "the resource has changed: its ETag does not match `If-Match`",
  },
  CURSOR_EXPIRED: {
    status: 410,
    message: "events after this cursor may be missing; read the feed from the beginning, or from `latest`",
  },
  PAYLOAD_TOO_LARGE: { status: 413, message: "the request is too large" },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: "the body must be uncompressed `application/json` in UTF-8",
  },

  // readable, but not valid
  VALIDATION_FAILED: { status: 422, message: "the body is not valid" },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: "the Idempotency-Key was used for another request" },
  RETURN_URL_NOT_ALLOWED: { status: 422, message: "the return URL is not registered for the customer" },
  IDP_UNREACHABLE: { status: 422, message: "the identity provider's configuration could not be verified" },
  TARGET_NOT_ALLOWED: { status: 422, message: "the URL points to an address that is not allowed" },
  POLICY_SET_INVALID: { status: 422, message: "the policy set has errors" },
  POLICY_SET_NOT_ACTIVE: { status: 422, message: "the policy set has no active version" },

  RATE_LIMIT_EXCEEDED: { status: 429, message: "too many requests; try again later" },

  INTERNAL_ERROR: { status: 500, message: "internal error; quote the request id when you ask for help" },
  IDP_FAILED: { status: 502, message: "the identity provider returned an invalid response" },
  SERVICE_UNAVAILABLE: { status: 503, message: "the service is unavailable; try again later" },
} as const satisfies Record<string, Entry> & Record<GatewayErrorCode, Entry>;
export type ErrorCode = keyof typeof ERROR_CODES;

/** The parts of an error that are not in the table. */
export interface ErrorParts {
  /** Replaces the table's message; public. */
  readonly message?: string;
  /** Public: which part of the request is wrong. */
  readonly details?: Readonly<Record<string, unknown>>;
  /**
   * 422 for a reference in a body (404 in a path); 401 for a policy that another sign-in would satisfy
   * (RFC 9470, section 3).
   */
  readonly status?: 401 | 422;
  /** Logged, never sent to the client. */
  readonly cause?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whose credentials were refused; for records, never sent. */
  readonly caller?: RefusedCaller;
}

/** A key that is known, and does not permit this. */
export interface RefusedCaller {
  readonly kind: "api_key";
  readonly id: string;
  readonly customerId?: string;
}

/** An error for the client: its code and details. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: RefusedCaller | undefined;

  constructor(code: ErrorCode, parts: ErrorParts = {}) {
    super(parts.message ?? ERROR_CODES[code].message, { cause: parts.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = parts.status ?? ERROR_CODES[code].status;
    this.details = parts.details ?? {};
    this.headers = parts.headers ?? {};
    this.caller = parts.caller;
  }
}

/** An invalid field of a body. */
export interface FieldProblem {
  /** From the body's root: `scopes.0`, `idp.client_id`. */
  readonly path: string;
  readonly message: string;
}

/** 422 with the path of each field. */
export function validationFailed(fields: readonly FieldProblem[]): ApiError {
  return new ApiError("VALIDATION_FAILED", { details: { fields } });
}

/** A customer that does not exist or that the key must not see: 404 if it is in a path, 422 if in a body. */
export function invalidCustomer(customerId: string, where: "path" | "body"): ApiError {
  return new ApiError("INVALID_CUSTOMER", {
    details: { customer_id: customerId },
    ...(where === "body" && { status: 422 }),
  });
}
