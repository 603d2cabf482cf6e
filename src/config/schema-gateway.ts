import { availableParallelism } from "node:os";
import * as z from "zod";
import { FORWARDED_HEADERS, USUAL_FORWARDED_HEADERS } from "../request/types.ts";
import { acceptedAmbiguity } from "./accepted-ambiguity.ts";
import {
  idleTimeout,
  requestSizeLimit,
  requestTimeout,
  responseSizeLimit,
  routes,
  responseTimeout,
  upstreamTimeout,
} from "./schema-routes.ts";
import {
  backendUrl,
  choice,
  cidr,
  duration,
  flag,
  holdsPaths,
  ipAddress,
  list,
  optional,
  parseSocketAddress,
  path,
  setting,
  size,
  text,
  tlsVersion,
  wholeNumber,
} from "../setting-types.ts";

const cluster = z.strictObject({
  nodes: setting(
    wholeNumber(1, 64),
    Math.min(2, availableParallelism()),
    "Number of ext_authz worker processes that Envoy balances over. Default: 2, or 1 on a machine with one core.",
  ),
  coordination: setting(
    choice("local", "control_plane"),
    "local",
    "`local`: this gateway is on its own. `control_plane`: it reports to the control plane what it is and enforces, every " +
      "`gateway.cluster.health_check_interval` but at most once per second; `GET /gateways` and events tell which gateways are lost or " +
      "have diverged. The nodes are processes on this machine in both cases.",
  ),
  id: optional(
    text(),
    "The gateway's id at the control plane. It must stay the same after a restart, and differ between gateways. Default: the " +
      "machine's host name and the port.",
  ),
  health_check_interval: setting(
    duration("100ms", "5m"),
    "5s",
    "Interval of Envoy's health checks of each worker (gRPC health protocol). Two failures take a worker out.",
  ),
});

const performance = z.strictObject({
  policy_cache_ttl: setting(duration("1s", "24h"), "5m", "How long a cached decision stays valid."),
  connection_pool_size: setting(
    wholeNumber(1, 1_000_000),
    1024,
    "Maximum number of concurrent requests to each backend and, counted separately, of open WebSocket connections. Above it: 503.",
  ),
  proxy_memory_limit: optional(
    size(64 * 1024 * 1024, 1_000_000_000_000),
    "Maximum heap size of Envoy. Near it, Envoy resets the streams that use most memory, then refuses new requests (503). " +
      "Default: a quarter of the memory of the machine or control group, between 256MiB and 4GiB.",
  ),
  upload_memory_limit: optional(
    size(1024 * 1024, 1_000_000_000_000),
    "How much of unfinished bodies of unknown length Envoy holds in memory, all requests together; shared evenly by its threads, " +
      "each of which can always hold one body of the largest permitted size. Above it: 503 with Retry-After, at the end of the " +
      "body. Default: a quarter of `proxy_memory_limit`.",
  ),
  request_timeout: setting(
    requestTimeout,
    "60s",
    "Time that a client has to send a whole request, including the body. After that: 408.",
  ),
});

const rateLimiting = z.strictObject({
  requests_per_second: setting(
    wholeNumber(0, 1_000_000),
    0,
    "Requests per second that the gateway accepts, from all clients together. 0: no limit. Above it: 429 with Retry-After.",
  ),
  anonymous_requests_per_second: setting(
    wholeNumber(0, 1_000_000),
    0,
    "Requests per second without a credential that the gateway accepts, from all clients together, so that a flood of them " +
      "leaves room for callers with one. Credentials are `Authorization: Bearer` with a token, the cookie `identity.cookie` " +
      "with a value and, if `gateway.trusted_proxies` is set, `X-User-Token` from any client. 0: no limit. Above it: 429 with " +
      "Retry-After.",
  ),
  burst_size: optional(
    wholeNumber(1, 10_000_000),
    "Burst size (of the token bucket): requests accepted at once before the limit applies. Default: `requests_per_second`.",
  ),
});

const security = z.strictObject({
  tls_min_version: setting(
    tlsVersion(),
    "1.2",
    "Minimum TLS version that the listener accepts. Needs a certificate.",
  ),
  tls_certificate: optional(
    path(),
    "PEM file with the listener's certificate chain. Without it the listener is plain HTTP.",
  ),
  tls_private_key: optional(path(), "PEM file with the certificate's private key."),
  hsts_header: setting(
    flag(),
    false,
    "Send `Strict-Transport-Security: max-age=31536000` with every response, including the gateway's own.",
  ),
  request_size_limit: setting(
    requestSizeLimit,
    "10MB",
    "Maximum size of a request body. Above it: 413, before the body is read if the request states its length. A body of " +
      "unknown length is buffered until it is complete (at most 2MiB with GET, HEAD and OPTIONS); gRPC calls to an `h2c` or `https` backend, which are streams, are not.",
  ),
  decision_body_limit: setting(
    size(4 * 256 * 1024, 15_000_000),
    "1MiB",
    "Maximum size of a body that a decision needs: GraphQL operations, including uploads (`graphql.multipart`), and bodies " +
      "that a rule reads. Above it: 413. Each such body is held in memory until it is decided, in Envoy and in " +
      "a worker, and long JSON takes long to parse: raise it only as far as uploads need it.",
  ),
  response_size_limit: setting(
    responseSizeLimit,
    "10MB",
    "Maximum size of a response body to which a response rule applies; the whole body is buffered. A larger body is not " +
      "delivered, and the status becomes 502 unless it was a redirect or an error. Responses without a rule are not limited.",
  ),
  message_size_limit: setting(
    size(1, 100_000_000),
    "1MB",
    "Maximum size of a WebSocket message, all fragments together, in either direction. Above it the connection is closed with 1009.",
  ),
  rate_limiting: rateLimiting.prefault({}),
});

const adminAddress = text().refine(
  (value) => value === "off" || parseSocketAddress(value) !== undefined,
  "must be `off` or an address and port such as `127.0.0.1:9901`",
);

/** A single word such as `on` or `stdout` is not meant as a file name. */
export const accessLog = holdsPaths(
  path().refine(
    (value) => value === "" || value === "off" || value === "stderr" || /[./]/.test(value),
    "must be `off`, `stderr`, or the path of a file such as `access.log`",
  ),
  (value, resolve) => (value === "off" || value === "stderr" ? value : resolve(value)),
);

export const gateway = z
  .strictObject({
    listen_address: setting(ipAddress(), "127.0.0.1", "Address the gateway listens on."),
    listen_port: setting(wholeNumber(0, 65535), 8000, "Port the gateway listens on. 0: any free port."),
    backend: optional(
      backendUrl(),
      "The application behind the gateway. `http` is HTTP/1.1, `https` is whatever the server negotiates (its certificate is " +
        "verified), `h2c` is HTTP/2 without TLS (gRPC). Required by `gatehouse gateway`.",
    ),
    backends: setting(
      list(backendUrl()),
      [],
      "Additional applications. A trusted proxy selects one by sending exactly this text as X-Backend-URL.",
    ),
    backend_ca: optional(
      path(),
      "PEM file with the certificate authorities for `https` backends. Default: those of the system.",
    ),
    upstream_timeout: setting(
      upstreamTimeout,
      "30s",
      "How long a backend may be silent before its response starts and between two parts of it. After that: 504. Streams have " +
        "`stream_idle_timeout` instead.",
    ),
    response_timeout: setting(
      responseTimeout,
      "24h",
      "How long a whole response may take, from the end of the request on. After that: 504, or if it has begun, its end. It also " +
        "ends responses that a response rule holds back and that never become complete. Streams have `stream_idle_timeout` instead.",
    ),
    upstream_idle_timeout: setting(
      duration("100ms", "1h"),
      "4s",
      "How long an idle connection to a backend is kept open. Must be shorter than the backend's own keep-alive timeout (5 s in " +
        "Node.js, uvicorn and Apache): a request sent while the backend closes the connection is answered with 503.",
    ),
    stream_idle_timeout: setting(
      idleTimeout,
      "5m",
      "How long a gRPC call, or a request with `Accept: text/event-stream`, may be idle in both directions before it is ended " +
        "(gRPC: with `UNAVAILABLE` if no response has begun).",
    ),
    websocket_idle_timeout: setting(
      idleTimeout,
      "5m",
      "How long a WebSocket connection may be idle in both directions before it is closed.",
    ),
    websocket_connections_per_user: optional(
      wholeNumber(1, 10_000),
      "Maximum number of open WebSocket connections per user or, without an identity, per client address (IPv6: per /64 " +
        "network). Further ones are denied with 429. Default: an eighth of `performance.connection_pool_size` (128), so that no " +
        "user takes more of a backend's capacity.",
    ),
    routes,
    trusted_proxies: setting(
      list(cidr()),
      [],
      "Front proxies that may send X-Backend-URL, X-User-Token, X-Real-IP and the `forwarded_headers`. They must overwrite what " +
        "clients send in these headers (X-Forwarded-For: append to it).",
    ),
    forwarded_headers: setting(
      list(choice(...FORWARDED_HEADERS)),
      [...USUAL_FORWARDED_HEADERS],
      "The headers by which the trusted proxies say who the client is and which scheme and host it used. List exactly those " +
        "that all of them set: one that they leave alone is the client's own.",
    ),
    trusted_hops: optional(
      wholeNumber(1, 20),
      "Number of proxies in front, if their addresses are not known. The client is the one that the outermost of them reports, " +
        "counted from the end of X-Forwarded-For. The gateway must not be reachable past any of them. Default: the client is " +
        "the last address that is not in `gateway.trusted_proxies`.",
    ),
    proxy_protocol: setting(
      choice("off", "tcp", "http"),
      "off",
      "Whether every connection begins with a PROXY protocol header (version 1 or 2), which then is what says who the client " +
        "is. Connections from others than `gateway.trusted_proxies` are closed. `tcp`: the proxies forward bytes, so all " +
        "headers are the client's. `http`: they also set headers, as without the PROXY protocol.",
    ),
    accept_ambiguous: setting(
      list(acceptedAmbiguity()),
      [],
      "Checks against ambiguous requests to turn off, for applications that need such requests: everywhere (a name), or " +
        "below a path pattern (a map; all checks but `letter_case`). Each use is reported. The rules must permit every way in " +
        "which the application could read such a request, unless `reading` states which one it is: `kept` (it splits the path at " +
        "`/` only, decodes once and changes nothing) or `resolved` (it drops `;...`, splits at `%2f`, and merges `//`). See " +
        "docs/policies.md and docs/compatibility.md.",
    ),
    denial_details: setting(
      choice("reason", "none"),
      "reason",
      "Whether a denial tells the client its reason code or only that the request was denied.",
    ),
    envoy_admin: setting(
      adminAddress,
      "off",
      "Address and port of Envoy's admin interface, which has no access control. `off`: a Unix socket that only the " +
        "gateway's own user can open.",
    ),
    access_log: setting(
      accessLog,
      "off",
      "One line of JSON per request, written by Envoy: `stderr`, or a file to append to. `off`: none. The audit log records " +
        "every decision in any case.",
    ),
    cluster: cluster.prefault({}),
    performance: performance.prefault({}),
    security: security.prefault({}),
  })
  .prefault({});
