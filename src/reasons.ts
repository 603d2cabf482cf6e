interface Entry {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Envoy refused the request, or the client disconnected, before there was a decision. Reported by Envoy's access log.
 */
const PROXY_REFUSALS = {
  PATH_REFUSED: {
    status: 400,
    code: "BAD_REQUEST",
    message: "the request target contains a `#` or has no path",
  },
  MALFORMED_REQUEST: { status: 400, code: "BAD_REQUEST", message: "the request is not valid HTTP" },
  UPGRADE_NOT_SUPPORTED: {
    status: 403,
    code: "UPGRADE_NOT_SUPPORTED",
    message: "CONNECT and upgrades other than WebSocket are not supported",
  },
  ROUTE_NOT_FOUND: { status: 404, code: "NOT_FOUND", message: "no backend is configured for the request" },
  REQUEST_TIMEOUT: { status: 408, code: "REQUEST_TIMEOUT", message: "timed out while receiving the request" },
  REQUEST_TOO_LARGE: {
    status: 413,
    code: "REQUEST_TOO_LARGE",
    message: "the request body is too large",
  },
  UPGRADE_REQUIRED: { status: 426, code: "UPGRADE_REQUIRED", message: "HTTP/1.1 or newer is required" },
  RATE_LIMITED: { status: 429, code: "RATE_LIMITED", message: "too many requests" },
  HEADERS_TOO_LARGE: {
    status: 431,
    code: "HEADERS_TOO_LARGE",
    message: "the request headers are too large",
  },
  TOO_MANY_HEADERS: {
    status: 431,
    code: "HEADERS_TOO_LARGE",
    message: "the request has too many headers",
  },
  CLIENT_GONE: {
    status: 499,
    code: "CLIENT_GONE",
    message: "the client disconnected before there was a decision",
  },
  OVERLOADED: { status: 503, code: "SERVICE_UNAVAILABLE", message: "the gateway is overloaded" },
  DECISION_UNAVAILABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "no worker made a decision in time",
  },
  REFUSED_BY_PROXY: { status: 400, code: "BAD_REQUEST", message: "the proxy refused the request" },
} as const satisfies Record<string, Entry>;

/**
 * Every reason a decision can have. The list is closed: audit, metrics, responses and clients match these codes and no
 * others.
 */
export const REASONS = {
  // allowed
  CONDITION_TRUE: { status: 200, code: "ALLOWED", message: "the rule's condition is true" },
  DEFAULT_ALLOW: {
    status: 200,
    code: "ALLOWED",
    message: "no rule matches, and the policy set's default is `allow`",
  },
  PREFLIGHT_ALLOWED: { status: 200, code: "ALLOWED", message: "a CORS preflight, allowed by the policy set" },
  GRAPHQL_CONNECTION: {
    status: 200,
    code: "ALLOWED",
    message: "a connection to a GraphQL endpoint; each operation on it is checked separately",
  },
  CONNECTION_HELD: {
    status: 200,
    code: "ALLOWED",
    message: "a connection to a GraphQL endpoint; nothing else passes before its client says who it is",
  },
  GRAPHQL_ALLOWED: { status: 200, code: "ALLOWED", message: "the rules permit every field of the operation" },

  // refused before any rule: the request is ambiguous or malformed
  AMBIGUOUS_PATH: {
    status: 400,
    code: "AMBIGUOUS_PATH",
    message: "the path is malformed, or can be read in more than one way",
  },
  AMBIGUOUS_QUERY: {
    status: 400,
    code: "AMBIGUOUS_QUERY",
    message: "the query is malformed, or can be read in more than one way",
  },
  AMBIGUOUS_HEADERS: {
    status: 400,
    code: "AMBIGUOUS_HEADERS",
    message: "the headers are malformed, or can be read in more than one way",
  },
  AMBIGUOUS_METHOD: {
    status: 400,
    code: "AMBIGUOUS_METHOD",
    message: "the method is malformed, or can be read in more than one way",
  },
  AMBIGUOUS_BODY: {
    status: 400,
    code: "AMBIGUOUS_BODY",
    message: "the body is malformed, or can be read in more than one way",
  },
  AMBIGUOUS_CASE: {
    status: 400,
    code: "AMBIGUOUS_PATH",
    message: "the path differs only in letter case from one that has a rule",
  },
  AMBIGUOUS_FORWARDING: {
    status: 400,
    code: "AMBIGUOUS_FORWARDING",
    message:
      "the headers by which a trusted proxy describes the request are malformed or contradict each other",
  },
  UNKNOWN_BACKEND: {
    status: 400,
    code: "UNKNOWN_BACKEND",
    message: "the backend address is not in the configured list",
  },
  UNTRUSTED_PROXY_HEADER: {
    status: 400,
    code: "UNTRUSTED_PROXY_HEADER",
    message: "the sender is not allowed to choose the backend",
  },

  // who is asking
  IDENTITY_REQUIRED: { status: 401, code: "IDENTITY_REQUIRED", message: "a bearer token is required" },
  TOKEN_MALFORMED: { status: 401, code: "TOKEN_INVALID", message: "the token is not a well-formed JWT" },
  TOKEN_FOREIGN: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "the bearer token is not one of the configured issuer",
  },
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
    message: "the token's signature is invalid",
  },
  TOKEN_ISSUER_MISMATCH: { status: 401, code: "TOKEN_INVALID", message: "the token's issuer does not match" },
  TOKEN_AUDIENCE_MISMATCH: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "the token's audience does not match",
  },
  TOKEN_TYPE_NOT_ALLOWED: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "the token's type is not accepted",
  },
  TOKEN_CLAIMS_INVALID: {
    status: 401,
    code: "TOKEN_INVALID",
    message: "a required claim of the token is missing or malformed",
  },
  TOKEN_NOT_YET_VALID: { status: 401, code: "TOKEN_NOT_YET_VALID", message: "the token is not valid yet" },
  TOKEN_EXPIRED: { status: 401, code: "TOKEN_EXPIRED", message: "the token has expired" },
  TOKEN_PROOF_REQUIRED: {
    status: 401,
    code: "TOKEN_PROOF_REQUIRED",
    message: "the token is bound to a key, and the request does not prove possession of it",
  },

  API_KEY_INVALID: {
    status: 401,
    code: "API_KEY_INVALID",
    message: "the API key does not exist, has expired or was revoked",
  },
  API_KEY_NOT_CHECKED: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the API key could not be looked up in the control plane",
  },

  // identity from a cookie, which a browser sends whatever site makes the request
  ORIGIN_NOT_TRUSTED: {
    status: 403,
    code: "ORIGIN_NOT_TRUSTED",
    message: "the caller is identified by a cookie, and the request's origin is not allowed to use it",
  },

  // the session, user or customer has changed since the token was signed, or does not meet the customer's policies
  SESSION_ENDED: { status: 401, code: "SESSION_ENDED", message: "the session has ended" },
  SESSION_TOO_OLD: {
    status: 401,
    code: "SESSION_TOO_OLD",
    message: "a policy of the customer requires a more recent sign-in",
  },
  MFA_REQUIRED: {
    status: 401,
    code: "MFA_REQUIRED",
    message: "a policy of the customer requires multi-factor authentication",
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
    message: "the rule's condition is unknown: an attribute is missing, unavailable or of the wrong type",
  },
  CLAIM_OMITTED: {
    status: 403,
    code: "ACCESS_DENIED",
    message:
      "the rule needs a claim that the token refers to without containing it, for example because the user has too many groups",
  },
  GRAPHQL_DENIED: {
    status: 403,
    code: "ACCESS_DENIED",
    message: "the rules do not permit a field of the operation",
  },
  GRAPHQL_MALFORMED: {
    status: 400,
    code: "GRAPHQL_MALFORMED",
    message: "the GraphQL request is malformed or ambiguous",
  },
  GRAPHQL_LIMIT_EXCEEDED: {
    status: 400,
    code: "GRAPHQL_LIMIT_EXCEEDED",
    message: "the GraphQL request exceeds the limits of the policy set",
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    status: 400,
    code: "PERSISTED_QUERY_NOT_SUPPORTED",
    message: "the request names its GraphQL document by a hash, and the policy set has no documents",
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 400,
    code: "PERSISTED_QUERY_NOT_FOUND",
    message: "the request names its GraphQL document by a hash or id that the policy set does not have",
  },
  PREFLIGHT_ANSWERED: {
    status: 204,
    code: "PREFLIGHT_ANSWERED",
    message: "a CORS preflight of an origin in `cors`: the gateway answered it, and nothing was forwarded",
  },
  PREFLIGHT_ORIGIN_NOT_ALLOWED: {
    status: 403,
    code: "PREFLIGHT_DENIED",
    message: "a CORS preflight of an origin that is not in `cors` of the policy set",
  },
  PREFLIGHT_DENIED: {
    status: 403,
    code: "PREFLIGHT_DENIED",
    message:
      "CORS preflights carry no identity and are denied by default; set `cors` in the policy set to answer them, or `preflight: allow` to forward them",
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
    message: "the decision needs the body, which is larger than the gateway accepts",
  },

  // no decision yet
  BODY_NEEDED: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the decision needs the body; the proxy repeats the check with it",
  },

  PREFLIGHT_MALFORMED: {
    status: 400,
    code: "PREFLIGHT_MALFORMED",
    message: "the request has the headers of a CORS preflight, but also something that no preflight has",
  },

  // failures on our side
  BODY_UNAVAILABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the rule reads the body, and the proxy did not send it",
  },
  POLICY_NOT_READY: { status: 503, code: "SERVICE_UNAVAILABLE", message: "no policy set is loaded" },
  IDENTITY_NOT_READY: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the identity provider's signing keys are unavailable",
  },
  CUSTOMER_STATE_NOT_READY: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the state of the session is unknown: the gateway is not in sync with the control plane",
  },
  POLICY_SETS_CONFLICT: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "two policy sets have rules for the same GraphQL connection",
  },
  AUDIT_UNAVAILABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the audit record could not be written",
  },
  PLAN_NOT_ENFORCEABLE: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the proxy does not run the filters that the policies need",
  },
  TOO_MANY_CONNECTIONS: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "too many WebSocket connections are open, or their handshakes take too much memory",
  },
  TOO_MANY_CONNECTIONS_OF_USER: {
    status: 429,
    code: "TOO_MANY_CONNECTIONS",
    message:
      "the user (or the client's address, without a user) has too many WebSocket connections open, or their handshakes take too much memory",
  },
  CONNECTION_ENDED: {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    message: "the connection ended, or had to end, before its client was identified",
  },
  DEADLINE_EXCEEDED: { status: 503, code: "SERVICE_UNAVAILABLE", message: "the decision took too long" },
  INTERNAL_ERROR: { status: 500, code: "INTERNAL_ERROR", message: "the decision failed" },
} as const satisfies Record<string, Entry>;

export type Reason = keyof typeof REASONS;

/** Reasons to permit. */
export type PermitReason = {
  [Name in Reason]: (typeof REASONS)[Name]["status"] extends 200 ? Name : never;
}[Reason];
/** Reasons to deny. Each has the status of the refusal. */
export type DenialReason = Exclude<Reason, PermitReason>;

/** Reasons that only Envoy's access log reports. */
export type ProxyReason = keyof typeof PROXY_REFUSALS;
export const PROXY_REASONS = Object.keys(PROXY_REFUSALS) as readonly ProxyReason[];

/** Reasons from the state of customer, user and session, independent of the rules. */
export const STATE_REASONS = [
  "SESSION_ENDED",
  "SESSION_TOO_OLD",
  "MFA_REQUIRED",
  "EMAIL_DOMAIN_NOT_ALLOWED",
  "CLIENT_ADDRESS_NOT_ALLOWED",
  "CUSTOMER_SUSPENDED",
  "USER_SUSPENDED",
  "CUSTOMER_STATE_NOT_READY",
] as const satisfies readonly DenialReason[];
export type StateReason = (typeof STATE_REASONS)[number];
