import type { AccessRequest } from "../types.ts";

/**
 * In HTTP/1.0, a body without Content-Length can only be chunked, which the proxies that speak it do not read. Envoy removes
 * a Transfer-Encoding that Connection nominates before anything can see it; then only the body itself shows it.
 *
 * @returns `unknown` if the body was not sent yet; `undefined` if nothing is wrong, or if it cannot be obtained
 */
export function unannouncedBody({ raw, bodies }: AccessRequest): "unknown" | "present" | undefined {
  if (raw.protocol !== "HTTP/1.0" || bodies === undefined) return undefined;
  if (raw.headers.some(([name]) => name === "content-length")) return undefined;
  if (bodies === "on_request" && raw.body === undefined) return "unknown";
  return raw.body?.bytes.length === 0 ? undefined : "present";
}
