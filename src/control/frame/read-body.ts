import type { Request } from "express";
import { ApiError } from "../errors.ts";
import { parseJsonBody } from "./json-text.ts";

/** Most bytes of a body, where the route says nothing else. */
export const BODY_LIMIT = 1_000_000;

/**
 * Reads the JSON body of a request.
 *
 * @param anyText - its texts and its nesting are not looked at here
 * @returns `undefined` where there is none
 * @throws ApiError for another media type or charset, a compressed body, one that is too large, cut short or no JSON
 */
export async function readBody(request: Request, limit: number, anyText = false): Promise<unknown> {
  const { "content-length": length, "transfer-encoding": chunked } = request.headers;
  if (chunked === undefined && (length === undefined || length === "0")) return undefined;
  requireJson(request.headers["content-type"]);
  if (request.headers["content-encoding"] !== undefined && request.headers["content-encoding"] !== "identity")
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
    throw new ApiError("MALFORMED_JSON", { message: "the body was cut short", cause: error });
  }
  return size === 0 ? undefined : parseJsonBody(Buffer.concat(chunks), anyText);
}

/** RFC 8259, sections 8.1 and 11: JSON is UTF-8, and has no other parameter. */
function requireJson(contentType: string | undefined): void {
  const [type = "", ...parameters] = (contentType ?? "").split(";").map((part) => part.trim().toLowerCase());
  const utf8 = parameters.every((parameter) => /^(charset="?utf-8"?|)$/.test(parameter));
  if (type !== "application/json" || !utf8) throw new ApiError("UNSUPPORTED_MEDIA_TYPE");
}

function tooLarge(limit: number): ApiError {
  // what is still to come is not read, so the connection cannot be used again
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { limit }, headers: { connection: "close" } });
}
