import { availableParallelism } from "node:os";
import * as z from "zod";
import { SWITCHES } from "../request/types.ts";
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

/** Names for `gateway.accept_ambiguous`: what src/request can switch off, and the one of the decision. */
export const AMBIGUITY_NAMES = [...SWITCHES, "letter_case"] as const;

const cluster = z.strictObject({
  nodes: setting(
    wholeNumber(1, 64),
    Math.min(2, availableParallelism()),
    "Number of ext_authz worker processes that Envoy balances over. Default: 2, or 1 on a machine with one core.",
  ),
  coordination: setting(
    choice("local"),
    "local",
    "How the nodes are coordinated. `local`: they are processes of this machine, started and watched by the gateway.",
  ),
  health_check_interval: setting(
    duration("100ms", "5m"),
    "5s",
    "How often Envoy asks each worker whether it is healthy (gRPC health protocol). Two bad answers take it out.",
  ),
});

const performance = z.strictObject({
  policy_cache_ttl: setting(duration("1s", "24h"), "5m", "How long a cached decision is used."),
  connection_pool_size: setting(
    wholeNumber(1, 1_000_000),
    1024,
    "How many requests may be under way at each backend, and besides as many WebSocket connections open. Above it: 503.",
  ),
  proxy_memory_limit: optional(
    size(64 * 1024 * 1024, 1_000_000_000_000),
    "Heap that Envoy may take. Near it Envoy ends the streams that hold most, then takes no further requests (503). Default: " +
      "a quarter of the memory of the machine, or of the control group, between 256MiB and 4GiB.",
  ),
  request_timeout: setting(
    duration("100ms", "24h"),
    "60s",
    "Time a client has to send a whole request, body included. After it: 408.",
  ),
});

const rateLimiting = z.strictObject({
  requests_per_second: setting(
    wholeNumber(0, 1_000_000),
    0,
    "Requests a second that the gateway takes, from all clients together. 0: no limit. Above it: 429 with Retry-After.",
  ),
  anonymous_requests_per_second: setting(
    wholeNumber(0, 1_000_000),
    0,
    "Requests per second without a credential (`Authorization: Bearer` with a token, the cookie of `identity.cookie` with a " +
      "value, and where `gateway.trusted_proxies` are configured `X-User-Token`, from whomever) that the gateway takes, from all clients together, so that a flood of them leaves room for callers with one. 0: no limit. " +
      "Above it: 429 with Retry-After.",
  ),
  burst_size: optional(
    wholeNumber(1, 10_000_000),
    "Requests that may come at once before the limit bites (size of the token bucket). Default: `requests_per_second`.",
  ),
});

const security = z.strictObject({
  tls_min_version: setting(
    tlsVersion(),
    "1.2",
    "Oldest TLS version that the listener accepts. Needs a certificate.",
  ),
  tls_certificate: optional(
    path(),
    "PEM file with the listener's certificate chain. Without it the listener is plain HTTP.",
  ),
  tls_private_key: optional(path(), "PEM file with the certificate's private key."),
  hsts_header: setting(
    flag(),
    false,
    "Send `Strict-Transport-Security: max-age=31536000` with every answer, those of the gateway itself included.",
  ),
  request_size_limit: setting(
    size(1, 4_000_000_000),
    "10MB",
    "Largest request body. Above it: 413, before the body is read where the request says its length. A body of unknown " +
      "length is held back until it is complete, so that its length is known; gRPC calls to an `h2c` or `https` backend, " +
      "which are streams by nature, are not.",
  ),
  response_size_limit: setting(
    size(1, 1_000_000_000),
    "10MB",
    "Largest response body that a response rule is applied to; it is held back as a whole. Above it the body is not " +
      "delivered, and the status is 502 unless it was one of a redirect or an error. Responses that no rule touches are not bounded.",
  ),
  message_size_limit: setting(
    size(1, 100_000_000),
    "1MB",
    "Largest WebSocket message, all its fragments together, in either direction. Above it the connection closes with 1009.",
  ),
  rate_limiting: rateLimiting.prefault({}),
});

const adminAddress = text().refine(
  (value) => value === "off" || parseSocketAddress(value) !== undefined,
  "must be `off` or an address and port such as `127.0.0.1:9901`",
);

/** A word alone is no file that somebody means: `on`, `stdout`. */
const accessLog = holdsPaths(
  path().refine(
    (value) => value === "" || value === "off" || value === "stderr" || /[./]/.test(value),
    "must be `off`, `stderr`, or the path of a file such as `access.log`",
  ),
  (value, resolve) => (value === "off" || value === "stderr" ? value : resolve(value)),
);

export const gateway = z
  .strictObject({
    listen_address: setting(ipAddress(), "127.0.0.1", "Address the gateway listens on."),
    listen_port: setting(wholeNumber(0, 65535), 8000, "Port the gateway listens on. 0: any free one."),
    backend: optional(
      backendUrl(),
      "The application behind the gateway. `http` speaks HTTP/1.1, `https` what the server chooses (its certificate is " +
        "verified), `h2c` HTTP/2 in the clear (gRPC). Needed by `gatehouse gateway`.",
    ),
    backends: setting(
      list(backendUrl()),
      [],
      "Further applications, which a trusted proxy chooses by sending exactly this text as X-Backend-URL.",
    ),
    backend_ca: optional(
      path(),
      "PEM file of the authorities that sign `https` backends. Default: those of the system.",
    ),
    upstream_timeout: setting(
      duration("10ms", "24h"),
      "30s",
      "How long a backend may stay silent: until its answer begins, and between two parts of it. After it: 504.",
    ),
    upstream_idle_timeout: setting(
      duration("100ms", "1h"),
      "4s",
      "How long a connection to a backend is kept while no request uses it. Less than the backend keeps it (5 s in Node.js, " +
        "uvicorn and Apache): a request that meets the end of its connection is answered 503.",
    ),
    websocket_idle_timeout: setting(
      duration("1s", "24h"),
      "5m",
      "How long a WebSocket connection may carry nothing in either direction. After it, it is closed.",
    ),
    websocket_connections_per_user: optional(
      wholeNumber(1, 10_000),
      "How many WebSocket connections one user may have open at a time; without an identity, one client address " +
        "(an IPv6 network of 64 bits). Further ones are denied with 429. Default: an eighth of " +
        "`performance.connection_pool_size` (128), so that nobody takes more of a backend's.",
    ),
    trusted_proxies: setting(
      list(cidr()),
      [],
      "Front proxies that may send X-Backend-URL, X-User-Token and X-Real-IP.",
    ),
    accept_ambiguous: setting(
      list(choice(...AMBIGUITY_NAMES)),
      [],
      "Checks against ambiguous requests that are switched off, for applications that need such requests. " +
        "Each use is reported. The rules must permit whatever an application may take such a request for " +
        "(see docs/policies.md).",
    ),
    denial_details: setting(
      choice("reason", "none"),
      "reason",
      "Whether a denial tells the client its reason code, or only that it was denied.",
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
      "One line of JSON per request, written by Envoy: `stderr`, or a file that it appends to. `off`: none; the audit has a " +
        "record of every decision either way.",
    ),
    cluster: cluster.prefault({}),
    performance: performance.prefault({}),
    security: security.prefault({}),
  })
  .prefault({});
