import type { GatewayConfig } from "../config/index.ts";
import { HEADER, REFUSAL, REFUSAL_TEXT } from "../envoy-contract.ts";
import { allOf, anyOf, expression, flags, status } from "./access-log-filters.ts";
import { decidedAgainst, REFUSED, UNDECIDED, UNPLANNED } from "./decision-metadata.ts";
import { HSTS_HEADER, overwrite, REQUEST_ID, REQUEST_ID_HEADER } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import { localPage, PREFERS_HTML } from "./local-pages.ts";

/** https://grpc.io/docs/guides/status-codes */
const GRPC = { resource_exhausted: 8, internal: 13, unavailable: 14 } as const;

/** What Envoy takes for a gRPC call. */
const GRPC_CALL = hasContentType(String.raw`application/grpc(\+.*)?`);
/** The same protocol in other forms, as in src/decision/denial. */
const GRPC_WEB_CALL = hasContentType(String.raw`(?i)application/grpc(-web|-web-text)?([+;\s].*)?`);

function hasContentType(regex: string): EnvoyJson {
  return { header_filter: { header: { name: "content-type", string_match: { safe_regex: { regex } } } } };
}

interface LocalReply {
  /** Conditions on Envoy's reply; all must match. */
  readonly when: readonly [EnvoyJson, ...EnvoyJson[]];
  readonly code: string;
  readonly message: string;
  /** Seconds after which the client may retry. */
  readonly retryAfter?: number;
  /** Replaces a response that had begun: Envoy sends it past the filters. */
  readonly direct?: true;
  /** Replaces the status that Envoy chose. */
  readonly status?: number;
  readonly headers?: readonly { readonly key: string; readonly value: string }[];
  /** The status of a gRPC call, where gRPC's own table for HTTP statuses has a misleading one, or none. */
  readonly grpc?: (typeof GRPC)[keyof typeof GRPC];
}

/** The size policy of the RBAC filter, as named in the details of Envoy's reply. */
export const TOO_LARGE = "request_too_large";
/** The same, for bodies of unknown length that there was no memory for. */
export const TOO_MANY_UPLOADS = "too_many_uploads";

const MALFORMED = { code: "BAD_REQUEST", message: "the request is malformed" };
const LARGE = {
  code: "REQUEST_TOO_LARGE",
  message: "the request body is too large",
  grpc: GRPC.resource_exhausted,
};
const NOT_DELIVERED = {
  code: REFUSAL.RESPONSE_NOT_DELIVERED,
  message: REFUSAL_TEXT.RESPONSE_NOT_DELIVERED,
  // `unavailable` would invite clients to repeat a call that the application has carried out
  grpc: GRPC.internal,
  headers: [
    { key: "cache-control", value: "no-store" },
    { key: "x-content-type-options", value: "nosniff" },
  ],
};

/** Every response that Envoy makes itself; the first match applies. */
export const LOCAL_REPLIES: readonly LocalReply[] = [
  {
    when: [status("EQ", 403), detail(`rbac_access_denied_matched_policy[${TOO_LARGE}]`)],
    ...LARGE,
    status: 413,
  },
  {
    when: [status("EQ", 403), detail(`rbac_access_denied_matched_policy[${TOO_MANY_UPLOADS}]`)],
    code: "SERVICE_UNAVAILABLE",
    message: "the gateway holds too many unfinished uploads at the moment",
    status: 503,
    retryAfter: 1,
    grpc: GRPC.unavailable,
  },
  { when: [status("EQ", 400)], ...MALFORMED },
  {
    when: [status("EQ", 403), detail("upgrade_failed")],
    code: "UPGRADE_NOT_SUPPORTED",
    message: "the connection cannot be upgraded",
  },
  {
    when: [status("EQ", 403), detail("http1.https_url_on_plaintext_connection")],
    ...MALFORMED,
    status: 400,
  },
  {
    // `*`
    when: [status("EQ", 404), detail("absolute_path_rejected")],
    ...MALFORMED,
    status: 400,
  },
  { when: [status("EQ", 404)], code: "NOT_FOUND", message: "no backend for this request" },
  {
    when: [status("EQ", 408)],
    code: "REQUEST_TIMEOUT",
    message: "timed out waiting for the complete request",
    grpc: GRPC.unavailable,
  },
  { when: [status("EQ", 413)], ...LARGE },
  { when: [status("EQ", 405)], code: "METHOD_NOT_ALLOWED", message: "CONNECT is not supported" },
  { when: [status("EQ", 429)], code: "RATE_LIMITED", message: "too many requests; try again later" },
  {
    when: [status("EQ", 431)],
    code: "HEADERS_TOO_LARGE",
    message: "the request headers are too large",
    grpc: GRPC.resource_exhausted,
  },
  {
    when: [status("EQ", 501)],
    code: "NOT_IMPLEMENTED",
    message: "the transfer encoding is not supported",
  },
  {
    when: [status("EQ", 503), flags("UH", "UF", "UO", "NC", "UC", "UR", "LR")],
    code: "UPSTREAM_UNAVAILABLE",
    message: "the backend is unavailable",
  },
  {
    when: [status("EQ", 503)],
    code: "SERVICE_UNAVAILABLE",
    message: "the gateway cannot authorize requests at the moment",
    retryAfter: 1,
  },
  { when: [status("EQ", 502), REFUSED], direct: true, ...NOT_DELIVERED },
  { when: [status("EQ", 504)], code: "UPSTREAM_TIMEOUT", message: "the backend did not respond in time" },
  {
    when: [status("EQ", 502)],
    code: "UPSTREAM_UNAVAILABLE",
    message: "the backend sent a malformed response",
  },
  {
    // the body is larger than what is buffered for response rules
    when: [status("EQ", 500), detail("response_payload_too_large")],
    direct: true,
    status: 502,
    ...NOT_DELIVERED,
  },
  { when: [status("GE", 500)], code: "INTERNAL_ERROR", message: "internal error in the gateway" },
  { when: [status("GE", 400)], code: "BAD_REQUEST", message: "the request cannot be served" },
];

/**
 * Gives Envoy's own responses the envelope of the REST API, or an HTML page if the client is a browser. If Lua filters are to
 * process the response, it is always the envelope, because they would treat a page as the application's response and refuse
 * it. Envoy counts the service's denials among its own responses: they keep their body. Responses of backends are not changed.
 *
 * @param cors - tells the filter for CORS the request's origin. Responses differ by it, whether or not it gets headers
 */
export function localReplies(config: GatewayConfig, cors = false): EnvoyJson {
  const always = config.gateway.security.hsts_header ? [HSTS_HEADER] : [];
  const mapper = (reply: LocalReply, id: string, form: Form) => {
    const { when, status: instead, retryAfter, headers: own = [], direct = false } = reply;
    const { format, headers } = FORMS[form].content(reply);
    return {
      // the status first: under load there are many such replies, and reading Accept costs most
      filter: allOf(...when, ...FORMS[form].when),
      ...(instead !== undefined && { status_code: instead }),
      ...adding([
        ...always,
        ...(retryAfter === undefined ? [] : [{ key: "retry-after", value: String(retryAfter) }]),
        { key: "vary", value: cors ? "accept, origin" : "accept" },
        { key: REQUEST_ID_HEADER, value: id },
        ...(cors && !direct ? [{ key: HEADER.origin, value: "%REQ(ORIGIN)%" }] : []),
        ...own,
        ...headers,
      ]),
      body_format_override: format,
    };
  };
  const mappers = LOCAL_REPLIES.flatMap((reply) => {
    const early = { ...reply, when: [...reply.when, MAY_HAVE_NO_ID] as const };
    return (["grpc", "grpcWeb", "page", "envelope"] as const).flatMap((form) => [
      mapper(early, NEW_ID, form),
      mapper(reply, REQUEST_ID, form),
    ]);
  });
  return { mappers: [{ filter: decidedAgainst(true), ...adding(always) }, ...mappers] };
}

interface Content {
  readonly format: EnvoyJson;
  readonly headers: readonly { readonly key: string; readonly value: string }[];
}

/** The forms of a reply: the first that the request asks for. */
const FORMS = {
  /** Envoy makes the body the message of the call's status. */
  grpc: {
    when: [GRPC_CALL],
    content: ({ code, message, grpc }) => ({
      format: { text_format_source: { inline_string: `${code}: ${message}` } },
      headers: grpc === undefined ? [] : [{ key: "grpc-status", value: String(grpc) }],
    }),
  },
  /** Clients read the status from the headers, and derive it from the HTTP status if that is no success. */
  grpcWeb: {
    when: [GRPC_WEB_CALL],
    content: ({ code, message, grpc }) => ({
      format: { text_format_source: { inline_string: "" } },
      headers: [
        { key: "grpc-message", value: `${code}: ${message}` },
        ...(grpc === undefined ? [] : [{ key: "grpc-status", value: String(grpc) }]),
      ],
    }),
  },
  page: {
    when: [UNPLANNED, PREFERS_HTML],
    content: ({ code, message }) => localPage({ code, message, id: ANSWERED_ID, time: TIME }),
  },
  envelope: {
    when: [],
    content: ({ code, message }) => ({
      format: { json_format: envelope(code, message), content_type: "application/json" },
      headers: [],
    }),
  },
} as const satisfies Readonly<
  Record<string, { readonly when: readonly EnvoyJson[]; content(reply: LocalReply): Content }>
>;
type Form = keyof typeof FORMS;

function adding(headers: readonly { readonly key: string; readonly value: string }[]): EnvoyJson {
  return headers.length === 0 ? {} : { headers_to_add: headers.map(overwrite) };
}

function envelope(code: string, message: string): EnvoyJson {
  return {
    success: false,
    error: { code, message },
    meta: { timestamp: TIME, request_id: ANSWERED_ID },
  };
}

const TIME = "%START_TIME(%Y-%m-%dT%H:%M:%S.%3fZ)%";

/** Gives a new id at each use, so it is set in the response header, from which the body and the logs take it. */
const NEW_ID = "%UNIQUE_ID%";
const ANSWERED_ID = "%RESP(X-REQUEST-ID)%";

/** Refusals of requests that already have an id; refusals by the codecs are of such a request, or of one with unknown headers. */
const LATE = [
  "request_overall_timeout",
  "stream_idle_timeout",
  "request_payload_too_large",
  "local_rate_limited",
  "route_not_found",
  "upgrade_failed",
  `rbac_access_denied_matched_policy[${TOO_LARGE}]`,
];

/**
 * Before Envoy has assigned an id, `x-request-id` is the client's own. Not all details of such early refusals are known, so
 * every other refusal before a decision gets an id of its own.
 */
const MAY_HAVE_NO_ID = anyOf(
  { header_filter: { header: { name: REQUEST_ID_HEADER, present_match: true, invert_match: true } } },
  allOf(
    UNDECIDED,
    status("LE", 499),
    expression(
      `!(response.code_details.startsWith("http1.") || response.code_details.startsWith("http2.") || ` +
        `response.code_details in ${JSON.stringify(LATE)})`,
    ),
  ),
  detail("overload"),
);

/** Matches Envoy's response code details. */
function detail(name: string): EnvoyJson {
  return expression(`response.code_details == "${name}"`);
}
