import type { CanonicalRequest, RawBody } from "../request/index.ts";
import { malformed } from "./types.ts";

/** @returns the bytes of the body, of which nothing is missing and nothing is compressed. */
export function readWholeBody({ body, headers }: CanonicalRequest): Uint8Array {
  const codings = (headers["content-encoding"] ?? []).map((coding) => coding.toLowerCase());
  if (codings.some((coding) => coding !== "identity")) malformed("the body is compressed");
  const { bytes, complete } = handedOver(body);
  const announced = headers["content-length"]?.[0];
  if (!complete || (announced !== undefined && Number(announced) !== bytes.length)) {
    malformed("the body is not there as a whole");
  }
  return bytes;
}

/**
 * Some servers read a body whatever the method is, and then it has a query of its own. Headers need not announce it:
 * only a body that was handed over and is empty is none.
 */
export function checkNoBody({ body, headers }: CanonicalRequest): void {
  const { bytes, complete } = handedOver(body);
  const announced = Number(headers["content-length"]?.[0] ?? 0) !== 0;
  if (announced || bytes.length > 0 || !complete) malformed("a request by GET has a body");
}

function handedOver(body: RawBody | undefined): RawBody {
  return body ?? malformed("the proxy did not hand over the body");
}
