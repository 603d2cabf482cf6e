import { PAGE_HEADERS, PAGE_TYPE, renderPage, signInLink } from "../../pages/index.ts";
import type { GraphqlErrorIR } from "../../policy/index.ts";
import { REASONS, type Reason } from "../../reasons.ts";
import type { CanonicalRequest } from "../../request/types.ts";
import { stepUpChallenge, type StepUp } from "../../customer-state/index.ts";
import { clip } from "../../text/index.ts";
import { prefersHtml } from "../../request/index.ts";

/** What a denial's response needs from the request. All of it is untrusted. */
export interface DenialInput {
  readonly reason: Reason;
  readonly requestId: string;
  readonly method: string;
  /** Canonical path; empty if there is none. */
  readonly resource: string;
  /** Absent if the request could not be read: the response is then JSON. */
  readonly headers: CanonicalRequest["headers"] | undefined;
  /** For 401 pages: where people sign in, and the original request target to return to. */
  readonly signIn?: { readonly url: string; readonly target: string };
  /** `none` gives only the public code; `reason` adds the reason, for clients that may know it. */
  readonly details: "none" | "reason";
  /** Unix ms. */
  readonly now: number;
  /** The challenge of a 401, instead of the one derived from the reason. */
  readonly challenge?: Challenge;
  /** The required sign-in, if the current one is not sufficient. */
  readonly stepUp?: StepUp;
  /** Why a GraphQL operation was denied: the response is then a GraphQL response. */
  readonly graphqlErrors?: readonly GraphqlErrorIR[];
}

/** RFC 6750, section 3.1, and RFC 9470, section 3. */
export interface Challenge {
  readonly error:
    "invalid_request" | "invalid_token" | "insufficient_scope" | "insufficient_user_authentication";
  readonly description: string;
}

/** A complete HTTP response: header names in lower case, and a body in UTF-8 that is empty for HEAD. */
export interface DenialResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

type Code = (typeof REASONS)[Reason]["code"];
type Headers = DenialResponse["headers"];

/** Messages for clients that are not told the reason. They say no more than the code. */
const PUBLIC_MESSAGES = {
  ALLOWED: "the decision failed",
  AMBIGUOUS_PATH: "the path is malformed or ambiguous",
  AMBIGUOUS_QUERY: "the query is malformed or ambiguous",
  AMBIGUOUS_HEADERS: "the headers are malformed or ambiguous",
  AMBIGUOUS_METHOD: "the method is malformed or ambiguous",
  AMBIGUOUS_BODY: "the body is malformed or ambiguous",
  AMBIGUOUS_FORWARDING: "the forwarding headers are malformed or ambiguous",
  UNKNOWN_BACKEND: "the backend address is not accepted",
  UNTRUSTED_PROXY_HEADER: "a header of the request is not accepted",
  IDENTITY_REQUIRED: "a bearer token is required",
  TOKEN_INVALID: "the token is invalid",
  TOKEN_NOT_YET_VALID: "the token is not valid yet",
  TOKEN_EXPIRED: "the token has expired",
  API_KEY_INVALID: "the API key is invalid",
  TOKEN_PROOF_REQUIRED: "the token is bound to a key, and the request does not prove possession of it",
  ORIGIN_NOT_TRUSTED: "the request does not come from a trusted origin",
  SESSION_ENDED: "the session has ended",
  SESSION_TOO_OLD: "a more recent sign-in is required",
  MFA_REQUIRED: "multi-factor authentication is required",
  EMAIL_DOMAIN_NOT_ALLOWED: "access is denied",
  CLIENT_ADDRESS_NOT_ALLOWED: "access is denied",
  CUSTOMER_SUSPENDED: "the customer is not active",
  USER_SUSPENDED: "the user is not active",
  ACCESS_DENIED: "access is denied",
  GRAPHQL_MALFORMED: "the GraphQL request is malformed or ambiguous",
  GRAPHQL_LIMIT_EXCEEDED: "the GraphQL request is too large",
  PERSISTED_QUERY_NOT_SUPPORTED: "send the GraphQL document itself",
  PERSISTED_QUERY_NOT_FOUND: "the GraphQL document is not known",
  PREFLIGHT_ANSWERED: "the gateway answers the CORS preflight",
  PREFLIGHT_DENIED: "the CORS preflight is denied",
  PREFLIGHT_MALFORMED: "the CORS preflight is malformed",
  PRECONDITION_NOT_SUPPORTED: "the precondition cannot be evaluated; repeat the request without it",
  BAD_REQUEST: "the request is malformed",
  UPGRADE_NOT_SUPPORTED: "the connection cannot be upgraded",
  NOT_FOUND: "no backend is configured for this request",
  REQUEST_TIMEOUT: "timed out while receiving the request",
  REQUEST_TOO_LARGE: "the request body is too large",
  UPGRADE_REQUIRED: "HTTP/1.1 or newer is required",
  RATE_LIMITED: "too many requests; try again later",
  HEADERS_TOO_LARGE: "the request headers are too large",
  CLIENT_GONE: "the client disconnected",
  TOO_MANY_CONNECTIONS: "too many WebSocket connections are open; close one first",
  SERVICE_UNAVAILABLE: "the service is unavailable; try again later",
  INTERNAL_ERROR: "the decision failed",
} as const satisfies Record<Code, string>;

/**
 * gRPC status codes. Without a `grpc-status` header, Envoy would derive them from the HTTP status by gRPC's table for
 * proxies, which maps 400 to INTERNAL.
 */
const GRPC_STATUS: Readonly<Record<number, string>> = {
  400: "3",
  401: "16",
  403: "7",
  413: "8",
  500: "13",
  503: "14",
};

const COMMON_HEADERS: Headers = [
  ["cache-control", "no-store"],
  ["x-content-type-options", "nosniff"],
];
/** RFC 9110, section 12.5.5: the response depends on the Accept header. */
const NEGOTIATED: Headers = [...COMMON_HEADERS, ["vary", "accept"]];
const JSON_HEADERS: Headers = [["content-type", "application/json"], ...NEGOTIATED];
const HTML_HEADERS: Headers = [["content-type", PAGE_TYPE], ...PAGE_HEADERS, ...NEGOTIATED];

/** RFC 9110, section 10.2.3; in seconds. */
const RETRY_SOON: Headers = [["retry-after", "1"]];

/** Denials that another sign-in can resolve. */
const STEP_UP_CODES: ReadonlySet<Code> = new Set<Code>(["MFA_REQUIRED", "SESSION_TOO_OLD"]);

/** The parts that are the same for every denial of one reason. */
interface Template {
  readonly status: number;
  readonly code: Code;
  readonly messages: Readonly<Record<DenialInput["details"], string>>;
  /** The JSON text before the details. */
  readonly json: Readonly<Record<DenialInput["details"], string>>;
  /** What a client needs to continue: a challenge, or when to retry. */
  readonly advice: Readonly<Record<DenialInput["details"], Headers>>;
}

const TEMPLATES = Object.fromEntries(
  (Object.keys(REASONS) as Reason[]).map((reason) => [reason, createTemplate(reason)]),
) as Readonly<Record<Reason, Template>>;

/**
 * Renders a denial in the form that suits the client: a gRPC status, a page for a browser, otherwise the JSON envelope
 * (specification 2.1 and 7).
 */
export function renderDenial(input: DenialInput): DenialResponse {
  const { details, headers } = input;
  const template = TEMPLATES[input.reason];
  const { status } = template;
  const type = headers?.["content-type"]?.[0] ?? "";
  if (GRPC.test(type)) return renderGrpc(template, details);
  const advice = adviceFor(template, input);
  if (GRPC_WEB.test(type)) return renderGrpcWeb(template, details, advice);

  const errors = input.graphqlErrors;
  const html = errors === undefined && prefersHtml(headers?.["accept"]);
  const common = errors ? graphqlHeaders(headers?.["accept"]) : html ? HTML_HEADERS : JSON_HEADERS;
  const all = advice.length === 0 ? common : [...common, ...advice];
  if (input.method === "HEAD") return { status, headers: all, body: "" };
  if (errors) return { status, headers: all, body: graphqlBody(errors, input) };
  return { status, headers: all, body: html ? htmlBody(template, input) : jsonBody(template, input) };
}

function adviceFor(
  { status, code, messages, advice }: Template,
  { challenge, stepUp, details }: DenialInput,
): Headers {
  if (challenge !== undefined) return challengeHeaders(status, challenge);
  if (stepUp === undefined || !STEP_UP_CODES.has(code)) return advice[details];
  return [["www-authenticate", stepUpChallenge(messages[details], stepUp)]];
}

const GRAPHQL_TYPE = "application/graphql-response+json";

/** GraphQL over HTTP, section 6.4: clients that accept the newer media type read errors under any status. */
function graphqlHeaders(accept: readonly string[] | undefined): Headers {
  const known = accept?.some((value) => value.toLowerCase().includes(GRAPHQL_TYPE)) === true;
  return known ? [["content-type", `${GRAPHQL_TYPE}; charset=utf-8`], ...NEGOTIATED] : JSON_HEADERS;
}

/** GraphQL specification, section 7.1: no `data` if execution did not begin. */
function graphqlBody(errors: readonly GraphqlErrorIR[], { requestId, now }: DenialInput): string {
  const timestamp = new Date(now).toISOString();
  return JSON.stringify({ errors, extensions: { timestamp, request_id: requestId } });
}

function jsonBody(template: Template, { details, requestId, now, ...input }: DenialInput): string {
  const { reason, method, resource } = input;
  const context =
    details === "reason"
      ? JSON.stringify({ reason, resource: echoed(resource), action: echoed(method) })
      : "{}";
  const timestamp = new Date(now).toISOString();
  return `${template.json[details]}${context}},"meta":{"timestamp":"${timestamp}","request_id":${JSON.stringify(requestId)}}}`;
}

function htmlBody(template: Template, { details, requestId, now, signIn, ...input }: DenialInput): string {
  const { status, code, messages } = template;
  const request = echoed(`${input.method} ${input.resource}`.trim());
  const why =
    details === "reason"
      ? ([
          ["Reason", input.reason],
          ["Request", request],
        ] as const)
      : [];
  const { method, resource: path } = input;
  return renderPage({
    ...{ status, code },
    facts: [
      ["Status", String(status)],
      ["Code", code],
      ...why,
      ["Meaning", messages[details]],
      ["Request ID", requestId],
      ["Time", new Date(now).toISOString()],
    ],
    ...(signIn &&
      status === 401 && { signIn: signInLink(signIn.url, { method, path, target: signIn.target }) }),
  });
}

/**
 * Envoy turns its own responses to gRPC calls into trailers and sends the body as `grpc-message`. It also sets the
 * content type: any type other than gRPC's would make the response unreadable.
 */
function renderGrpc(template: Template, details: DenialInput["details"]): DenialResponse {
  const { status, code, messages } = template;
  return {
    status,
    headers: [["grpc-status", grpcStatus(status)], ...COMMON_HEADERS],
    body: `${code}: ${messages[details]}`,
  };
}

/**
 * gRPC-Web has no trailers of its own: clients read the status from the headers, or from the HTTP status if that is no success.
 * Without a body, none of them looks for messages in it (decision 0069).
 */
function renderGrpcWeb(
  { status, code, messages }: Template,
  details: DenialInput["details"],
  advice: Headers,
): DenialResponse {
  const message = `${code}: ${messages[details]}`;
  return {
    status,
    headers: [
      ["grpc-status", grpcStatus(status)],
      // percent-encoded: gRPC over HTTP/2, "Responses"
      ["grpc-message", message.replace(/[^ -$&-~]/gu, (char) => encodeURIComponent(char))],
      ...COMMON_HEADERS,
      ...advice,
    ],
    body: "",
  };
}

function grpcStatus(status: number): string {
  return GRPC_STATUS[status] ?? "13";
}

/** What Envoy takes for a gRPC call: it changes its response to one into trailers. */
const GRPC = /^application\/grpc(?:$|\+)/;
/** The same protocol in other forms, and spellings that Envoy does not take for gRPC. */
const GRPC_WEB = /^application\/grpc(?:-web|-web-text)?(?:$|[+;\s])/i;

function createTemplate(reason: Reason): Template {
  // An allow has no denial response. Asking for one is a bug, so fail closed.
  const { status, code, message } = REASONS[REASONS[reason].code === "ALLOWED" ? "INTERNAL_ERROR" : reason];
  const messages = { none: PUBLIC_MESSAGES[code], reason: message };
  const json = (text: string) =>
    `{"success":false,"error":{"code":"${code}","message":${JSON.stringify(text)},"details":`;
  const advice = (text: string) =>
    reason === "OVERLOADED" ? RETRY_SOON : challengeHeaders(status, challengeFor(code, text));
  return {
    status,
    code,
    messages,
    json: { none: json(messages.none), reason: json(messages.reason) },
    advice: { none: advice(messages.none), reason: advice(messages.reason) },
  };
}

function challengeFor(code: Code, description: string): Challenge | undefined {
  if (code.startsWith("TOKEN_") || code === "SESSION_ENDED") return { error: "invalid_token", description };
  if (STEP_UP_CODES.has(code)) return { error: "insufficient_user_authentication", description };
  return undefined;
}

/** RFC 6750, section 3: no error code for a request without a token; none of `"`, `\` and controls in a description. */
function challengeHeaders(status: number, challenge: Challenge | undefined): Headers {
  if (status !== 401) return [];
  const scheme = 'Bearer realm="gatehouse"';
  if (challenge === undefined) return [["www-authenticate", scheme]];
  const description = challenge.description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, " ");
  return [["www-authenticate", `${scheme}, error="${challenge.error}", error_description="${description}"`]];
}

const MAX_ECHO = 1_000;

function echoed(text: string): string {
  return clip(text, MAX_ECHO);
}
