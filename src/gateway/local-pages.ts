import { PAGE_HEADERS, PAGE_TYPE, renderPage } from "../pages/index.ts";
import { allOf } from "./access-log-filters.ts";
import type { EnvoyJson } from "./envoy-json.ts";

// HTML pages for Envoy's own responses. Envoy has regular expressions but no arithmetic, so a client counts as a browser only
// if its Accept header shows it without any: HTML with the greatest weight, and JSON with less. Otherwise it gets JSON.

function accepts(range: string): EnvoyJson {
  // a quoted string may contain anything, and no browser sends one
  const regex = `(?i)([^"]*,)?[ \\t]*${range}(,[^"]*)?`;
  return { name: "accept", string_match: { safe_regex: { regex } } };
}

const HTML = accepts(String.raw`text/html[ \t]*(;[ \t]*q=1(\.0{0,3})?[ \t]*)?`);
/** Any range that includes JSON, unless its parameters start with a weight below 1. */
const JSON_TOO = accepts(
  String.raw`(application/(json|\*)|\*/\*)[ \t]*(;[ \t]*(q|([^q,; \t"]|;|q[^=,"]|q=[ \t]*1)[^,"]*)?)?`,
);

/** Matches the Accept headers of browsers with the same result as the service's content negotiation. */
export const PREFERS_HTML: EnvoyJson = allOf(
  { header_filter: { header: HTML } },
  { header_filter: { header: { ...JSON_TOO, invert_match: true } } },
);

/** The text of a page, by the code of the envelope. */
const STATUS: Readonly<Record<string, number>> = {
  BAD_REQUEST: 400,
  UPGRADE_NOT_SUPPORTED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  REQUEST_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  RESPONSE_NOT_DELIVERED: 502,
  SERVICE_UNAVAILABLE: 503,
};

/** A page and its headers; `id` and `time` are Envoy's command operators. */
export function localPage(reply: {
  readonly code: string;
  readonly message: string;
  readonly id: string;
  readonly time: string;
}): {
  readonly format: EnvoyJson;
  readonly headers: readonly { readonly key: string; readonly value: string }[];
} {
  const { code, message, id, time } = reply;
  const operators = ["%RESPONSE_CODE%", id, time];
  const page = renderPage({
    status: STATUS[code] ?? 500,
    code,
    facts: [
      ["Status", placeholder(0)],
      ["Code", code],
      ["Meaning", message],
      ["Request ID", placeholder(1)],
      ["Time", placeholder(2)],
    ],
  });
  const text = operators.reduce(
    (sofar, operator, index) => sofar.replace(placeholder(index), () => operator),
    page.replaceAll("%", "%%"),
  );
  return {
    format: { text_format_source: { inline_string: text }, content_type: PAGE_TYPE },
    headers: [...PAGE_HEADERS, ["cache-control", "no-store"], ["x-content-type-options", "nosniff"]].map(
      ([key = "", value = ""]) => ({ key, value }),
    ),
  };
}

/** Placeholder of an operator, which is inserted after the page's own percent signs have been escaped. */
function placeholder(index: number): string {
  return `{operator ${index}}`;
}
