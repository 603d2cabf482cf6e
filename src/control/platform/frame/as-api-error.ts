import { isCanceled, isUnavailable } from "../../../storage/database.ts";
import { ApiError } from "../errors.ts";

/**
 * The error that the client gets for anything that was thrown. Whatever a route did not throw on purpose is a defect,
 * and its text is not sent.
 */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // it waited too long for others, or the server is overloaded: it may well succeed later
  if (isUnavailable(error) || isCanceled(error))
    return new ApiError("SERVICE_UNAVAILABLE", { cause: error, headers: { "retry-after": "1" } });
  return new ApiError("INTERNAL_ERROR", { cause: error });
}
