import type { Request } from "express";
import { ApiError } from "../errors.ts";

/** RFC 9110, section 12.5.1. No Accept header accepts everything. @throws ApiError 406 */
export function requireJsonAccepted(request: Request, other: readonly string[] = []): void {
  if (request.accepts(["application/json", ...other]) === false) throw new ApiError("NOT_ACCEPTABLE");
}
