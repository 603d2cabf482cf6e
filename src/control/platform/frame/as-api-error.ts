import { isCanceled, isUnavailable, TooManyWaitingError } from "../../../storage/index.ts";
import { ApiError } from "../errors.ts";

/**
 * The error that the client gets for anything that was thrown. Whatever a route did not throw on purpose is a defect,
 * and its text is not sent.
 */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TooManyWaitingError && error.reason === "queue_full")
    return new ApiError("RATE_LIMIT_EXCEEDED", {
      message: "too many of the caller's requests are waiting; send fewer at once",
      cause: error,
      headers: { "retry-after": "1" },
    });
  // it waited too long for others, or the server is overloaded: it may well succeed later
  if (isUnavailable(error) || isCanceled(error))
    return new ApiError("SERVICE_UNAVAILABLE", { cause: error, headers: { "retry-after": "1" } });
  return new ApiError("INTERNAL_ERROR", { cause: error });
}
