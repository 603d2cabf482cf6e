import type { CanonicalRequest } from "../request/index.ts";
import { malformed } from "./types.ts";

/** @returns the bytes of the body, of which nothing is missing and nothing is compressed. */
export function readWholeBody({ body, headers }: CanonicalRequest): Uint8Array {
  const codings = (headers["content-encoding"] ?? []).map((coding) => coding.toLowerCase());
  if (codings.some((coding) => coding !== "identity")) malformed("the body is compressed");
  const announced = headers["content-length"]?.[0];
  if (body?.complete !== true || (announced !== undefined && Number(announced) !== body.bytes.length)) {
    return malformed("the body is not there as a whole");
  }
  return body.bytes;
}

/** Some servers read a body whatever the method is, and then it has a query of its own. */
export function checkNoBody({ body, headers }: CanonicalRequest): void {
  const announced =
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"]?.[0] ?? 0) !== 0;
  if (announced || (body !== undefined && (body.bytes.length > 0 || !body.complete))) {
    malformed("a request by GET has a body");
  }
}
