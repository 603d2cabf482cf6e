/** Why a call failed. Callers match these, or the API's own error code. */
export type Failure =
  /** No connection, or the connection broke. */
  | "UNREACHABLE"
  | "TIMEOUT"
  /** The response is not from the API, or violates the contract. */
  | "MALFORMED_ANSWER"
  /** This client has been closed. */
  | "CLOSED";

/** A failed call to the control plane. Its message contains neither the API key nor the request. */
export class ControlPlaneError extends Error {
  /** A {@link Failure}, or the code of the API's error envelope. */
  readonly code: string;
  /** HTTP status of the response, if there was one. */
  readonly status: number | undefined;
  /** The response's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    parts: {
      readonly status?: number;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: parts.cause });
    this.name = "ControlPlaneError";
    this.code = code;
    this.status = parts.status;
    this.retryAfterMs = parts.retryAfterMs;
  }
}

/**
 * Whether the control plane rejects this gateway's key: it was revoked, has expired, or has another scope. That is not an
 * outage: the holder of such a key must not keep going for as long as during one.
 */
export function isKeyRefused(error: unknown): error is ControlPlaneError {
  return error instanceof ControlPlaneError && (error.status === 401 || error.status === 403);
}

/** What is said of a request that has failed, whatever was thrown. */
export function asFailure(error: unknown): Pick<ControlPlaneError, "code" | "message" | "retryAfterMs"> {
  return error instanceof ControlPlaneError
    ? error
    : {
        code: "UNKNOWN",
        message: error instanceof Error ? error.message : "failed",
        retryAfterMs: undefined,
      };
}
