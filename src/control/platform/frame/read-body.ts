import type { Request } from "express";
import { ApiError } from "../errors.ts";
import { parseJsonBody } from "./json-text.ts";

/** What the body of a PATCH may also be declared as (RFC 7396, section 4). */
export const MERGE_PATCH = "application/merge-patch+json";

/** Maximum size of a body in bytes, unless the route declares another. */
export const BODY_LIMIT = 1_000_000;

/**
 * Reads the JSON body of a request.
 *
 * @param anyText - its strings are not checked here, and its nesting is limited less strictly
 * @returns `undefined` if there is none
 * @throws ApiError for another media type or charset, and for a body that is compressed, too large, truncated or not
 *   JSON
 */
export async function readBody(request: Request, limit: number, anyText = false): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  requireJson(request);
  const bytes = await readBytes(request, limit);
  return bytes.length === 0 ? undefined : parseJsonBody(bytes, anyText);
}

function hasBody({ headers }: Request): boolean {
  const { "content-length": length, "transfer-encoding": chunked } = headers;
  return chunked !== undefined || (length !== undefined && length !== "0");
}

/**
 * Reads the bytes of a body.
 *
 * @throws ApiError if it is compressed, too large or truncated
 */
export async function readBytes(request: Request, limit: number): Promise<Buffer> {
  const { "content-length": length, "content-encoding": encoding } = request.headers;
  if (encoding !== undefined && encoding !== "identity")
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", { message: "compressed bodies are not accepted" });
  if (Number(length) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("MALFORMED_JSON", { message: "the body is incomplete", cause: error });
  }
  return Buffer.concat(chunks);
}

/** RFC 8259, sections 8.1 and 11: JSON is UTF-8, and has no other parameter. */
function requireJson({ method, headers: { "content-type": contentType } }: Request): void {
  if (isType(contentType, "application/json")) return;
  if (method === "PATCH" && isType(contentType, MERGE_PATCH)) return;
  throw new ApiError("UNSUPPORTED_MEDIA_TYPE");
}

/** Whether a body is declared to have this type, in UTF-8. */
export function isType(contentType: string | undefined, expected: string): boolean {
  const [type = "", ...parameters] = (contentType ?? "").split(";").map((part) => part.trim().toLowerCase());
  return type === expected && parameters.every((parameter) => /^(charset="?utf-8"?|)$/.test(parameter));
}

function tooLarge(limit: number): ApiError {
  // the rest of the body is not read, so the connection cannot be used again
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { limit }, headers: { connection: "close" } });
}
