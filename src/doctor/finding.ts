/** How bad a finding is: requests pass unchecked; a protection is missing; worth knowing. */
export const SEVERITIES = ["critical", "warning", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

interface Problem {
  readonly severity: Severity;
  /** What is wrong, in a few words. */
  readonly title: string;
  /** What can happen. */
  readonly risk: string;
  /** How to mend it. */
  readonly mend: string;
}

/** Everything that is looked for. The list is closed: scripts match these codes. */
export const PROBLEMS = {
  EXT_AUTHZ_MISSING: {
    severity: "critical",
    title: "no ext_authz filter",
    risk: "Requests reach the application without a decision.",
    mend: "Add the ext_authz filter before the router, or remove the filter chain.",
  },
  EXT_AUTHZ_OFF_ON_ROUTE: {
    severity: "critical",
    title: "ext_authz is off on a route",
    risk: "Requests that match the route reach the application without a decision.",
    mend: "Remove `disabled` for the filter on the route, its virtual host and its weighted clusters. What needs no decision is permitted by a rule.",
  },
  EXT_AUTHZ_SOMETIMES: {
    severity: "critical",
    title: "ext_authz runs only for a part of the requests",
    risk: "The other requests reach the application without a decision. A key of the runtime can turn the filter off while Envoy runs.",
    mend: "Remove `filter_enabled` and `filter_enabled_metadata` from the filter, or set 100 % without `runtime_key`. To try rules first, use a rollout in shadow mode.",
  },
  EXT_AUTHZ_ASKS_OTHERS: {
    severity: "warning",
    title: "ext_authz asks different services",
    risk: "Where only another service decides, no rule of Gatehouse holds; it was taken for Gatehouse here.",
    mend: "Name Gatehouse's cluster with `--authz-cluster`: checks by the others then count as none.",
  },
  EXT_AUTHZ_OPTIONAL: {
    severity: "warning",
    title: "the ext_authz filter is optional",
    risk: "An Envoy that does not know the filter goes on without it.",
    mend: "Remove `is_optional`.",
  },
  ANSWERED_BEFORE_CHECK: {
    severity: "critical",
    title: "a filter before ext_authz can answer requests",
    risk: "A cached response for one caller is delivered to another, without a decision.",
    mend: "Move the filter behind ext_authz, or remove it.",
  },
  CHANGED_AFTER_CHECK: {
    severity: "warning",
    title: "a filter behind ext_authz can change requests",
    risk: "The application gets another request than the one that was decided.",
    mend: "Move the filter before ext_authz, so that rules see what the application sees.",
  },
  FORWARDED_WITHOUT_HTTP: {
    severity: "critical",
    title: "a listener forwards connections to the application without reading HTTP",
    risk: "Requests on that port reach the application without a decision.",
    mend: "Remove the TCP proxy, or use an HTTP connection manager with ext_authz there.",
  },
  TUNNEL_ALLOWED: {
    severity: "critical",
    title: "CONNECT opens tunnels",
    risk: "Only the first request of a tunnel is decided; what follows is not read.",
    mend: "Remove the upgrade type CONNECT and `connect_config`.",
  },
  FAILURE_MODE_ALLOW: {
    severity: "critical",
    title: "requests pass while the service fails",
    risk: "Anyone who can overload or stop the service gets past every rule.",
    mend: "Set `failure_mode_allow: false`.",
  },
  ERROR_LOOKS_LIKE_SUCCESS: {
    severity: "warning",
    title: "requests are answered with a success while the service fails",
    risk: "Clients take what was not carried out for done, caches keep the response, and a proxy that asks this Envoy for permission takes it for one.",
    mend: "Set `status_on_error` to `ServiceUnavailable`.",
  },
  BODY_NOT_SENT: {
    severity: "warning",
    title: "the body is not sent to the service, but rules read it",
    risk: "Conditions that read the body are unknown: those requests are denied.",
    mend: "Set `with_request_body` at the filter, and do not turn it off on routes.",
  },
  BODY_PARTIAL: {
    severity: "critical",
    title: "the service gets only the beginning of large bodies",
    risk: "The application acts on the rest of the body, which no rule has seen.",
    mend: "Set `allow_partial_message: false`: larger bodies are then answered 413.",
  },
  BODY_LIMIT_TOO_SMALL: {
    severity: "warning",
    title: "Envoy sends smaller bodies to the service than gateway.yaml says",
    risk: "Requests with larger bodies are answered 413.",
    mend: "Set `max_request_bytes` to `gateway.security.decision_body_limit`.",
  },
  BODY_AS_TEXT: {
    severity: "critical",
    title: "bytes of the body that are not UTF-8 are replaced",
    risk: "The application gets other bytes than the ones that were decided.",
    mend: "Set `pack_as_bytes: true`.",
  },
  HEADERS_JOINED: {
    severity: "warning",
    title: "repeated headers are joined",
    risk: "A repeated header looks to rules like a single one; applications may use only the first or the last.",
    mend: "Set `encode_raw_headers: true`.",
  },
  HEADERS_HIDDEN: {
    severity: "critical",
    title: "headers are hidden from the service",
    risk: "The application gets headers that no rule sees, and a second token or cookie is not noticed.",
    mend: "Remove `allowed_headers` and `disallowed_headers`.",
  },
  MUTATIONS_UNCHECKED: {
    severity: "warning",
    title: "Envoy does not check the headers that the service sets",
    risk: "A line break in a claim could become a header of its own.",
    mend: "Set `validate_mutations: true`.",
  },
  MUTATIONS_REFUSED: {
    severity: "critical",
    title: "Envoy ignores headers that the service sets or removes",
    risk: "Identity headers that a client sends stay, because the service's are ignored.",
    mend: "Remove `decoder_header_mutation_rules`, or allow every header there.",
  },
  OLD_PROTOCOL: {
    severity: "critical",
    title: "ext_authz asks an HTTP service, or an old version of the protocol",
    risk: "The service does not get what rules read.",
    mend: "Use `grpc_service` and `transport_api_version: V3`.",
  },
  PLANS_NOT_ENFORCED: {
    severity: "critical",
    title: "a route claims that responses and messages are checked, but its Lua filters are missing or off",
    risk: "Responses are delivered unmasked, and messages pass without a rule.",
    mend: "Use the routes and filters that `gatehouse envoy-config` prints, or remove `gatehouse.plans` from `context_extensions`.",
  },
  LUA_MISSING: {
    severity: "warning",
    title: "rules need Lua filters that this Envoy does not have",
    risk: "Requests with rules for responses, GraphQL fields or messages are denied (PLAN_NOT_ENFORCEABLE).",
    mend: "Add the Lua filters and routes that `gatehouse envoy-config` prints.",
  },
  LUA_OF_ANOTHER_RELEASE: {
    severity: "warning",
    title: "a Lua filter is not the one of this release",
    risk: "Service and filter may disagree about what is to be masked.",
    mend: "Update Envoy's configuration with this release's `gatehouse envoy-config`.",
  },
  ROUTE_NOT_CHOSEN_AGAIN: {
    severity: "critical",
    title: "the route is not chosen again after the decision",
    risk: "The Lua filters run on a route of their own, which is then never chosen: responses are delivered unmasked.",
    mend: "Set `clear_route_cache: true` on ext_authz.",
  },
  CLIENT_ADDRESS_BELIEVED: {
    severity: "critical",
    title: "clients can choose their address",
    risk: "Conditions on `request.client_ip`, rate limits and records use what the client wrote into X-Forwarded-For.",
    mend: "Set `use_remote_address: true`, `xff_num_trusted_hops` to the number of your proxies (0 without any), and no detection by header.",
  },
  SCHEME_OVERWRITTEN: {
    severity: "critical",
    title: "the scheme is that of the last connection, and nothing shows it",
    risk: "Behind a trusted proxy, `request.scheme` is how that proxy speaks to Envoy, whatever its client spoke.",
    mend: "Remove `skip_xff_append`: then the scheme counts as unknown. Or use Gatehouse's own configuration, which tells it.",
  },
  SCHEME_UNKNOWN: {
    severity: "warning",
    title: "the scheme of clients behind a trusted proxy is unknown",
    risk: "The configuration was written before there were trusted proxies: rules that read `request.scheme` deny what comes through them.",
    mend: "Write Gatehouse's own configuration again.",
  },
  INTERNAL_HEADERS_BELIEVED: {
    severity: "warning",
    title: "clients from some networks can set x-envoy-* headers",
    risk: "They set timeouts and retries, and their own request ids.",
    mend: "Set `internal_address_config` to the addresses of your own proxies, or to 255.255.255.255/32 for none.",
  },
  IDENTITY_HEADERS_FROM_CLIENTS: {
    severity: "critical",
    title: "clients can set identity headers where ext_authz is off",
    risk: "The application takes a header of the client for the identity that Gatehouse has checked.",
    mend: "Remove the identity headers in `early_header_mutation_extensions`, or turn ext_authz on for the route.",
  },
  IDENTITY_HEADER_REPLACED: {
    severity: "critical",
    title: "a route sets an identity header itself",
    risk: "The application gets another identity than the one that was checked.",
    mend: "Remove the header from `request_headers_to_add`.",
  },
  PATH_NOT_NORMALIZED: {
    severity: "critical",
    title: "routes without ext_authz are chosen by paths that are not normalized",
    risk: "`/public/../admin` or `/public/%2e%2e/admin` matches the open route, and the application may serve /admin.",
    mend: "Remove `disabled` on the route and permit the path by a rule, or set `normalize_path`, `merge_slashes` and `path_with_escaped_slashes_action: REJECT_REQUEST`.",
  },
  PATH_REWRITTEN: {
    severity: "info",
    title: "a route rewrites the path or host after the decision",
    risk: "Rules are about another path or host than the application sees.",
    mend: "Write rules for what the client sends, or do not rewrite.",
  },
  REQUEST_TRAILERS_KEPT: {
    severity: "warning",
    title: "request trailers reach the application",
    risk: "Some applications read trailers as headers, which no rule has seen.",
    mend: "Set `enable_trailers: false`, or remove request trailers with the header_mutation filter.",
  },
  LISTENER_WITHOUT_TLS: {
    severity: "warning",
    title: "clients connect without TLS",
    risk: "Tokens and cookies can be read and used by anyone on the way.",
    mend: "Set `tls_certificate` and `tls_private_key`, or listen on loopback behind a proxy that ends TLS.",
  },
  TLS_TOO_OLD: {
    severity: "warning",
    title: "TLS 1.0 or 1.1 is accepted",
    risk: "Both are broken (RFC 8996).",
    mend: "Set `tls_minimum_protocol_version: TLSv1_2` or higher.",
  },
  EARLY_DATA_ACCEPTED: {
    severity: "warning",
    title: "HTTP/3 requests are accepted as early data",
    risk: "Anyone on the way can send a recorded request again, with its token: it is permitted and carried out twice (RFC 8470).",
    mend: "Set `enable_early_data: false` in the QuicDownstreamTransport.",
  },
  AUTHZ_WITHOUT_TLS: {
    severity: "critical",
    title: "Envoy asks the service over the network without TLS",
    risk: "Anyone on the way can read tokens, and answer `allow` instead of the service.",
    mend: "Set `authz.tls` and a transport socket on the cluster, or use a Unix socket or loopback.",
  },
  AUTHZ_NOT_VERIFIED: {
    severity: "critical",
    title: "Envoy does not verify the service's certificate",
    risk: "Anyone on the way can answer `allow` instead of the service.",
    mend: "Set `validation_context` with `trusted_ca` and `match_typed_subject_alt_names`.",
  },
  UPSTREAM_WITHOUT_TLS: {
    severity: "info",
    title: "Envoy connects to an application over the network without TLS",
    risk: "Identity headers can be read and changed on the way.",
    mend: "Use an https backend, or make sure that nobody else is in that network.",
  },
  UPSTREAM_NOT_VERIFIED: {
    severity: "warning",
    title: "Envoy does not verify an application's certificate",
    risk: "Anyone on the way can pretend to be the application.",
    mend: "Set `validation_context` with `trusted_ca` and `match_typed_subject_alt_names`.",
  },
  APPLICATION_REACHABLE: {
    severity: "critical",
    title: "the application answers past Envoy",
    risk: "Requests to that address reach the application without a decision, with any identity header.",
    mend: "Have the application listen on loopback or a Unix socket, or let only Envoy connect to it (firewall, NetworkPolicy, mTLS).",
  },
  ADMIN_OPEN: {
    severity: "critical",
    title: "Envoy's admin interface listens on the network",
    risk: "Anyone who reaches it can read secrets, turn filters off through the runtime, and stop Envoy.",
    mend: "Use a Unix socket or loopback for `admin.address`.",
  },
  UPDATE_REFUSED: {
    severity: "warning",
    title: "Envoy has refused an update of its configuration",
    risk: "It goes on with the configuration before, which may be less strict.",
    mend: "Correct what `error_state` in the config_dump says.",
  },
  ENVOY_VERSION: {
    severity: "warning",
    title: "this release was not tested with this version of Envoy",
    risk: "Filters may behave differently, with known security problems in older versions.",
    mend: "Use the version that `gatehouse envoy-install` installs.",
  },
  CLOCKS_APART: {
    severity: "warning",
    title: "clocks differ",
    risk: "Tokens are refused too early or accepted too late, and records have wrong times.",
    mend: "Synchronize the clocks (NTP).",
  },
  AUDIT_OFF: {
    severity: "warning",
    title: "decisions are not recorded",
    risk: "Nobody can find out who was let in, or why not.",
    mend: "Set `audit.enabled: true`.",
  },
  TRUSTS_EVERYBODY: {
    severity: "critical",
    title: "every peer is a trusted proxy",
    risk: "Any client can say who it is and where it comes from, and choose the application.",
    mend: "List only the addresses of your own proxies in `gateway.trusted_proxies`.",
  },
  SERVICE_OPEN: {
    severity: "critical",
    title: "the service listens on the network without TLS",
    risk: "Anyone who reaches it can ask for decisions and read claims from the answers.",
    mend: "Set `authz.tls` with `client_ca`, or listen on loopback.",
  },
  NOT_CHECKED: {
    severity: "info",
    title: "a part of the configuration could not be checked",
    risk: "It may contain any of the problems of this list.",
    mend: "See the detail.",
  },
} as const satisfies Readonly<Record<string, Problem>>;
export type ProblemCode = keyof typeof PROBLEMS;

/** One problem at one place. */
export interface Finding {
  readonly code: ProblemCode;
  /** Where, from the outside in: `listener a / filter chain b / route c`. */
  readonly where: string;
  /** What was found there; no secrets. */
  readonly detail: string;
}

/** @returns the findings, the worst first, in the order of the list; each once */
export function ranked(findings: readonly Finding[]): Finding[] {
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  const rank = ({ code }: Finding) =>
    SEVERITIES.indexOf(PROBLEMS[code].severity) * codes.length + codes.indexOf(code);
  const unique = new Map(
    findings.map((finding) => [`${finding.code}\n${finding.where}\n${finding.detail}`, finding]),
  );
  return [...unique.values()].sort((a, b) => rank(a) - rank(b) || (a.where < b.where ? -1 : 1));
}
