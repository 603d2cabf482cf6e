import { isCanceled, isUnavailable } from "../../../storage/database.ts";
import { ApiError } from "../errors.ts";

/** What a client is told of whatever was thrown. What no route has thrown on purpose is a defect: its text stays here. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // it waited for others for too long, or the server has too much to do: later it may well succeed
  if (isUnavailable(error) || isCanceled(error))
    return new ApiError("SERVICE_UNAVAILABLE", { cause: error, headers: { "retry-after": "1" } });
  return new ApiError("INTERNAL_ERROR", { cause: error });
}
