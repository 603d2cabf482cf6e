import type { ErrorRequestHandler, Request } from "express";
import type { z } from "zod";

/** Ends a request with a status and a reason that the caller may read. */
export class RequestError extends Error {
  readonly status: number;
  readonly problems: readonly string[];

  constructor(status: number, message: string, problems: readonly string[] = []) {
    super(message);
    this.status = status;
    this.problems = problems;
  }
}

/**
 * @returns the body in the schema's shape.
 * @throws RequestError 400 that describes the problem.
 */
export function readBody<T>(schema: z.ZodType<T>, request: Request): T {
  return parseAs(schema, request.body, "body");
}

/**
 * @param what - what the value is, for the error
 * @returns the value in the schema's shape.
 * @throws RequestError 400 that describes the problem.
 */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join(".") || what}: ${issue.message}`);
  throw new RequestError(400, `the ${what} is not valid`, problems);
}

/** The last handler: sends refusals, unreadable bodies and failures as JSON, without a stack. */
export const reportError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  if (error instanceof RequestError) {
    const { status, message, problems } = error;
    response.status(status).json({ error: message, ...(problems.length > 0 && { problems }) });
    return;
  }
  const status = statusOf(error);
  response
    .status(status)
    .json({ error: status < 500 ? "the request is not valid" : "the application failed" });
};

/** Express and its body parsers put the status on the error. */
function statusOf(error: unknown): number {
  const status: unknown =
    typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  return typeof status === "number" && status >= 400 && status < 500 ? status : 500;
}
