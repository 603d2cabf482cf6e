import type { RawRequest } from "../../request/types.ts";

/** What a browser sends with a CORS preflight, and what proxies add. */
const KEPT = new Set([
  ..."host origin referer user-agent accept accept-language connection via forwarded te content-length".split(
    " ",
  ),
  ..."traceparent tracestate x-request-id cache-control pragma dnt priority".split(" "),
]);
const KEPT_PREFIXES = ["access-control-request-", "sec-fetch-", "sec-ch-ua", "x-forwarded-", "x-envoy-"];

/** @returns headers to remove from a preflight: those that identify the sender or could cause work */
export function removedForPreflight(headers: RawRequest["headers"]): readonly string[] {
  const names = new Set(headers.map(([name]) => name));
  return [...names].filter(
    (name) => !KEPT.has(name) && !KEPT_PREFIXES.some((start) => name.startsWith(start)),
  );
}
