import type { RefusalCheck } from "./request/types.ts";

interface Entry {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Envoy refused the request, or its client left, before there was a decision: its access log says so. */
const PROXY_REFUSALS = {
  PATH_REFUSED: {
    status: 400,
    code: "BAD_REQUEST",
    message: "the target holds a `#`, or names no path",
  },
  MALFORMED_REQUEST: { status: 400, code: "BAD_REQUEST", message: "the request cannot be read as HTTP" },
  UPGRADE_NOT_SUPPORTED: {
    status: 403,
    code: "UPGRADE_NOT_SUPPORTED",
    message: "CONNECT and upgrades other than WebSocket are not supported",
  },
  ROUTE_NOT_FOUND: { status: 404, code: "NOT_FOUND", message: "there is no backend for the request" },
  REQUEST_TIMEOUT: { status: 408, code: "REQUEST_TIMEOUT", message: "the request did not arrive in time" },
  REQUEST_TOO_LARGE: {
    status: 413,
    code: "REQUEST_TOO_LARGE",
    message: "the request is larger than allowed",
  },
  UPGRADE_REQUIRED: { status: 426, code: "UPGRADE_REQUIRED", message: "HTTP/1.1 or newer is required" },
  RATE_LIMITED: { status: 429, code: "RATE_LIMITED", message: "there are too many requests" },
  HEADERS_TOO_LARGE: {
    status: 431,
    code: "HEADERS_TOO_LARGE",
    message: "the request's headers are larger than allowed",
  },
  TOO_MANY_HEADERS: {
    status: 431,
    code: "HEADERS_TOO_LARGE",
    message: "the request has more headers than allowed",
  },
  CLIENT_GONE: { status: 499, code: "CLIENT_GONE", message: "the client left before there was a decision" },
  OVERLOADED: { status: 503, code: "SERVICE_UNAVAILABLE", message: "the gateway is overloaded" },
  DECISION_UNAVAILABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "no worker decided in time, or too many requests were waiting for one",
  },
  REFUSED_BY_PROXY: { status: 400, code: "BAD_REQUEST", message: "the proxy refused the request" },
} as const satisfies Record<string, Entry>;

/** Every reason a decision can have. Closed: audit, metrics, responses and clients match these and nothing else. */
export const REASONS = {
  // allowed
  CONDITION_TRUE: { status: 200, code: "ALLOWED", message: "the rule's condition is true" },
  DEFAULT_ALLOW: { status: 200, code: "ALLOWED", message: "no rule matches and the set's default is allow" },
  PREFLIGHT_ALLOWED: { status: 200, code: "ALLOWED", message: "a CORS preflight, allowed by the set" },
  GRAPHQL_CONNECTION: {
    status: 200,
    code: "ALLOWED",
    message: "a connection to a GraphQL endpoint, whose operations are evaluated one by one",
  },
  GRAPHQL_ALLOWED: { status: 200, code: "ALLOWED", message: "every field of the operation is permitted" },

  // refused before any rule: the request can be read in two ways, or not at all
  AMBIGUOUS_PATH: {
    status: 400,
    code: "AMBIGUOUS_PATH",
    message: "the path can be read in more than one way",
  },
  AMBIGUOUS_HEADERS: {
    status: 400,
    code: "AMBIGUOUS_HEADERS",
    message: "the headers can be read in more than one way",
  },
  AMBIGUOUS_METHOD: {
    status: 400,
    code: "AMBIGUOUS_METHOD",
    message: "the method can be read in more than one way",
  },
  AMBIGUOUS_BODY: {
    status: 400,
    code: "AMBIGUOUS_BODY",
    message: "the body can be read in more than one way",
  },
  AMBIGUOUS_CASE: {
    status: 400,
    code: "AMBIGUOUS_PATH",
    message: "the path differs from a guarded one only in letter case",
  },
  UNKNOWN_BACKEND: {
    status: 400,
    code: "UNKNOWN_BACKEND",
    message: "the backend address is not one of those configured",
  },
  UNTRUSTED_PROXY_HEADER: {
    status: 400,
    code: "UNTRUSTED_PROXY_HEADER",
    message: "the sender may not choose the backend",
  },

  // who is asking
  IDENTITY_REQUIRED: { status: 401, code: "IDENTITY_REQUIRED", message: "a bearer token is required" },
  TOKEN_MALFORMED: { status: 401, code: "TOKEN_INVALID", message: "the token is not a well-formed JWT" },
  TOKEN_TOO_LARGE: { status: 401, code: "TOKEN_INVALID", message: "the token is too large" },
  TOKEN_ALGORITHM_NOT_ALLOWED: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "the token's algorithm is not allowed",
  },
  TOKEN_KEY_UNKNOWN: { status: 401, code: "TOKEN_INVALID", message: "the token is signed by an unknown key" },
  TOKEN_SIGNATURE_INVALID: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "the token's signature is not valid",
  },
  TOKEN_ISSUER_MISMATCH: { status: 401, code: "TOKEN_INVALID", message: "the token is from another issuer" },
  TOKEN_AUDIENCE_MISMATCH: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "the token is for another audience",
  },
  TOKEN_TYPE_NOT_ALLOWED: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "the token is not of an accepted type",
  },
  TOKEN_CLAIMS_INVALID: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "a claim of the token is missing or malformed",
  },
  TOKEN_NOT_YET_VALID: { status: 401, code: "TOKEN_NOT_YET_VALID", message: "the token is not valid yet" },
  TOKEN_EXPIRED: { status: 401, code: "TOKEN_EXPIRED", message: "the token has expired" },
  TOKEN_PROOF_REQUIRED: {
    status: 401,
    code: "TOKEN_PROOF_REQUIRED",
    message: "the token is bound to a key whose possession was not proven",
  },

  // who it is by a cookie, which a browser sends for any site
  ORIGIN_NOT_TRUSTED: {
    status: 403,
    code: "ORIGIN_NOT_TRUSTED",
    message: "the caller is known by a cookie, and the request does not come from an origin that may use it",
  },

  // who it is has changed, or is not enough for the customer's policies (a token is good as long as it is signed)
  SESSION_ENDED: { status: 401, code: "SESSION_ENDED", message: "the session has ended" },
  SESSION_TOO_OLD: {
    status: 401,
    code: "SESSION_TOO_OLD",
    message: "a policy of the customer asks for a more recent sign-in",
  },
  MFA_REQUIRED: {
    status: 401,
    code: "MFA_REQUIRED",
    message: "a policy of the customer asks for multi-factor authentication",
  },
  EMAIL_DOMAIN_NOT_ALLOWED: {
    status: 403,
    code: "EMAIL_DOMAIN_NOT_ALLOWED",
    message: "a policy of the customer does not allow the user's e-mail domain",
  },
  CLIENT_ADDRESS_NOT_ALLOWED: {
    status: 403,
    code: "CLIENT_ADDRESS_NOT_ALLOWED",
    message: "a policy of the customer does not allow the client's address",
  },
  CUSTOMER_SUSPENDED: { status: 403, code: "CUSTOMER_SUSPENDED", message: "the customer is not active" },
  USER_SUSPENDED: { status: 403, code: "USER_SUSPENDED", message: "the user is not active" },

  // what the policy says
  NO_MATCHING_RULE: { status: 403, code: "ACCESS_DENIED", message: "no rule matches" },
  CONDITION_FALSE: { status: 403, code: "ACCESS_DENIED", message: "the rule's condition is false" },
  CONDITION_UNKNOWN: {
    status: 403,
    code: "ACCESS_DENIED",
    message: "the rule's condition cannot be decided",
  },
  GRAPHQL_DENIED: {
    status: 403,
    code: "ACCESS_DENIED",
    message: "a field of the operation is not permitted",
  },
  GRAPHQL_MALFORMED: {
    status: 400,
    code: "GRAPHQL_MALFORMED",
    message: "the GraphQL request cannot be read in one way only",
  },
  GRAPHQL_LIMIT_EXCEEDED: {
    status: 400,
    code: "GRAPHQL_LIMIT_EXCEEDED",
    message: "the GraphQL request is larger than the limits of the set",
  },
  PREFLIGHT_DENIED: {
    status: 403,
    code: "PREFLIGHT_DENIED",
    message:
      "CORS preflights carry no identity and are denied; set `preflight: allow` in the policy set to allow them",
  },

  PRECONDITION_NOT_SUPPORTED: {
    status: 412,
    code: "PRECONDITION_NOT_SUPPORTED",
    message: "response rules apply, so the precondition cannot be evaluated; repeat the request without it",
  },
  ...PROXY_REFUSALS,
  BODY_TOO_LARGE: {
    status: 413,
    code: "REQUEST_TOO_LARGE",
    message: "the decision needs the body, which is larger than the service takes",
  },

  // no decision yet
  BODY_NEEDED: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the decision needs the body; the door asks again with it",
  },

  PREFLIGHT_MALFORMED: {
    status: 400,
    code: "PREFLIGHT_MALFORMED",
    message: "the request has the headers of a CORS preflight, and something that no preflight has",
  },

  // what is broken on our side
  BODY_UNAVAILABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the rule reads the body, and the proxy did not hand it over",
  },
  POLICY_NOT_READY: { status: 503, code: "SERVICE_UNAVAILABLE", message: "no policy set is loaded" },
  IDENTITY_NOT_READY: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the identity provider's keys are not available",
  },
  STANDING_NOT_READY: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "it is not known whether the session goes on",
  },
  POLICY_SETS_CONFLICT: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "two policy sets evaluate the same GraphQL connection",
  },
  AUDIT_UNAVAILABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the audit record cannot be written",
  },
  PLAN_NOT_ENFORCEABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the proxy does not run the filters that the policies need",
  },
  TOO_MANY_CONNECTIONS: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "too many WebSocket connections are open, or with too long handshakes",
  },
  TOO_MANY_CONNECTIONS_OF_USER: {
    status: 429,
    code: "TOO_MANY_CONNECTIONS",
    message:
      "the user, or without one the client's address, has too many WebSocket connections open, or with too long handshakes",
  },
  DEADLINE_EXCEEDED: { status: 503, code: "SERVICE_UNAVAILABLE", message: "the decision came too late" },
  INTERNAL_ERROR: { status: 500, code: "INTERNAL_ERROR", message: "the decision failed" },
} as const satisfies Record<string, Entry>;

export type Reason = keyof typeof REASONS;

/** Reasons to permit. */
export type PermitReason = {
  [Name in Reason]: (typeof REASONS)[Name]["status"] extends 200 ? Name : never;
}[Reason];
/** Reasons to deny: each has a status that refuses. */
export type DenialReason = Exclude<Reason, PermitReason>;

/** Reasons that only Envoy's access log gives. */
export type ProxyReason = keyof typeof PROXY_REFUSALS;
export const PROXY_REASONS = Object.keys(PROXY_REFUSALS) as readonly ProxyReason[];

/** Reasons that the state of customer, user and session gives, whatever the rules say. */
export const STATE_REASONS = [
  "SESSION_ENDED",
  "SESSION_TOO_OLD",
  "MFA_REQUIRED",
  "EMAIL_DOMAIN_NOT_ALLOWED",
  "CLIENT_ADDRESS_NOT_ALLOWED",
  "CUSTOMER_SUSPENDED",
  "USER_SUSPENDED",
  "STANDING_NOT_READY",
] as const satisfies readonly DenialReason[];
export type StateReason = (typeof STATE_REASONS)[number];

/** Which reason a refused request is answered with. */
export const REFUSAL_REASONS = {
  malformed_method: "AMBIGUOUS_METHOD",
  malformed_target: "AMBIGUOUS_PATH",
  too_many_parts: "AMBIGUOUS_PATH",
  fragment: "AMBIGUOUS_PATH",
  control_character: "AMBIGUOUS_PATH",
  unencoded_character: "AMBIGUOUS_PATH",
  malformed_percent_encoding: "AMBIGUOUS_PATH",
  invalid_utf8: "AMBIGUOUS_PATH",
  encoded_slash: "AMBIGUOUS_PATH",
  double_encoding: "AMBIGUOUS_PATH",
  dot_segment: "AMBIGUOUS_PATH",
  path_parameter: "AMBIGUOUS_PATH",
  file_stream: "AMBIGUOUS_PATH",
  encoded_delimiter: "AMBIGUOUS_PATH",
  empty_segment: "AMBIGUOUS_PATH",
  encoded_unreserved: "AMBIGUOUS_PATH",
  query_separator: "AMBIGUOUS_PATH",
  parameter_collision: "AMBIGUOUS_PATH",
  malformed_header: "AMBIGUOUS_HEADERS",
  underscore_header: "AMBIGUOUS_HEADERS",
  conflicting_host: "AMBIGUOUS_HEADERS",
  repeated_authorization: "AMBIGUOUS_HEADERS",
  conflicting_content_length: "AMBIGUOUS_HEADERS",
  hop_by_hop_header: "AMBIGUOUS_HEADERS",
  method_override: "AMBIGUOUS_METHOD",
  path_override: "AMBIGUOUS_PATH",
  similar_parameter: "AMBIGUOUS_PATH",
  similar_header: "AMBIGUOUS_HEADERS",
  ambiguous_content_type: "AMBIGUOUS_BODY",
  compressed_body: "AMBIGUOUS_BODY",
  body_cut_short: "AMBIGUOUS_BODY",
  too_many_json_values: "AMBIGUOUS_BODY",
  malformed_json: "AMBIGUOUS_BODY",
  duplicate_json_member: "AMBIGUOUS_BODY",
  similar_json_members: "AMBIGUOUS_BODY",
  inexact_number: "AMBIGUOUS_BODY",
  similar_member: "AMBIGUOUS_BODY",
} as const satisfies Record<RefusalCheck, DenialReason>;
