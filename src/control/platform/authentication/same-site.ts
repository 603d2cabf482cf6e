import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "../errors.ts";

/**
 * Refuses requests that a browser sends for a page of another origin. Browsers tell the origin of a request (Fetch
 * Metadata, and RFC 6454, section 7); programs need not.
 *
 * @throws ApiError CSRF_TOKEN_INVALID
 */
export function requireSameOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin") throw otherOrigin();
  if (origin === undefined) return;
  // the address that the browser itself used may be another name of this service; no page can choose it
  const own = [publicUrl, `http://${host ?? ""}`, `https://${host ?? ""}`].map(originOf);
  const asked = originOf(origin);
  if (asked === undefined || !own.includes(asked)) throw otherOrigin();
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

function otherOrigin(): ApiError {
  return new ApiError("CSRF_TOKEN_INVALID", { message: "the request comes from another origin" });
}
