import type { CanonicalRequest, RawBody } from "../request/index.ts";
import { malformed } from "./types.ts";

/** @returns the bytes of the body, complete and uncompressed */
export function readWholeBody({ body, headers }: CanonicalRequest): Uint8Array {
  const codings = (headers["content-encoding"] ?? []).map((coding) => coding.toLowerCase());
  if (codings.some((coding) => coding !== "identity")) malformed("the body is compressed");
  const { bytes, complete } = handedOver(body);
  const announced = headers["content-length"]?.[0];
  if (!complete || (announced !== undefined && Number(announced) !== bytes.length)) {
    malformed("the body is incomplete");
  }
  return bytes;
}

/**
 * Some servers read a body whatever the method is, and it may contain another query. Headers need not announce a body:
 * it is certain that there is none only if the proxy sent an empty one.
 */
export function checkNoBody({ body, headers }: CanonicalRequest): void {
  const { bytes, complete } = handedOver(body);
  const announced = Number(headers["content-length"]?.[0] ?? 0) !== 0;
  if (announced || bytes.length > 0 || !complete) malformed("a GET request must not have a body");
}

function handedOver(body: RawBody | undefined): RawBody {
  return body ?? malformed("the proxy did not send the body");
}
