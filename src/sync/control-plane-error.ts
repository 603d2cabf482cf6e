/** What kept the control plane from answering as it should. Callers match these, or the API's own code. */
export type Failure =
  /** No connection, or it broke. */
  | "UNREACHABLE"
  | "TIMEOUT"
  /** What answered is not the API, or says what the contract does not know. */
  | "MALFORMED_ANSWER"
  /** This side has been closed. */
  | "CLOSED";

/** A call of the control plane that came to nothing. Its message holds neither the API key nor what was sent. */
export class ControlPlaneError extends Error {
  /** A {@link Failure}, or the code of the API's error envelope. */
  readonly code: string;
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** What the answer asked to be left in peace for. */
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
 * Whether the control plane does not take this gateway's key: it was revoked, has expired, or has another scope. That is no
 * outage: who holds such a key is not to go on for as long as if nobody answered.
 */
export function isKeyRefused(error: unknown): error is ControlPlaneError {
  return error instanceof ControlPlaneError && (error.status === 401 || error.status === 403);
}
