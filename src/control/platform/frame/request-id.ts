import type { Request, Response } from "express";
import { newId } from "../ids.ts";

/** Assigns an id to a request; the caller's own id is kept if it is safe in a log. */
export function nameRequest(request: Request, response: Response, next: () => void): void {
  const given = request.headers["x-request-id"];
  const requestId = typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newId("request");
  response.locals["requestId"] = requestId;
  response.setHeader("X-Request-Id", requestId);
  next();
}

/** The id assigned by {@link nameRequest}. */
export function requestIdOf(response: Response): string {
  return (response.locals as { readonly requestId: string }).requestId;
}
