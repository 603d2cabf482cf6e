import * as z from "zod";
import { LONGEST_COOKIE_NAME } from "../identity/credential-patterns.ts";
import { ALGORITHMS } from "../identity/options.ts";
import { signInProblem } from "../pages/index.ts";
import { foldHeaderName, readOrigin } from "../request/index.ts";
import {
  choice,
  duration,
  flag,
  holdsPaths,
  list,
  map,
  oneOrMore,
  optional,
  setting,
  text,
  url,
} from "../setting-types.ts";

const attributePath = text().refine(
  (value) => /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(value),
  "must be an attribute path such as `user.id`",
);

const claimPath = text();

/** What says how to read a message, whose credentials it carries, or how it came here. */
const COMMON_HEADERS = [
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "te",
  "traceparent",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-request-id",
];
const UNSETTABLE = new Set([...COMMON_HEADERS, "x-backend-url", "x-real-ip", "x-user-token"]);

const HEADER_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** RFC 9110 section 5.1, in lower case; underscores are refused by Envoy, pseudo and hop-by-hop headers are not ours. */
const headerName = z
  .string()
  .regex(HEADER_NAME, "must be a header name in lower case: letters, digits and `-`")
  .refine((name) => !UNSETTABLE.has(name), "is a header that the gateway must not set");

const clientHeader = text().refine(
  (name) => HEADER_NAME.test(name),
  "must be a header name in lower case: letters, digits and `-`",
);

/** A prefix whose names clients may not use. One that covers what proxies add would take that away, too. */
const headerPrefix = text()
  .refine((prefix) => HEADER_NAME.test(prefix), "must be the beginning of a header name in lower case")
  .refine(
    (prefix) => COMMON_HEADERS.every((name) => !foldHeaderName(name).startsWith(foldHeaderName(prefix))),
    "covers headers that every request may have, such as `x-request-id`",
  );

/** Whose pages may act by the cookie. `null` would be every sandboxed frame, and a pattern more than anybody checks. */
const origin = text().refine(
  (value) => readOrigin(value) !== undefined && isBrowsersAddress(value),
  "must be one origin as browsers write it, such as `https://app.example.com` or `http://[::1]:3000`: scheme, host and " +
    "perhaps port, no path and no `*`",
);

/** There are many spellings of an IPv6 address, and browsers send one. */
function isBrowsersAddress(value: string): boolean {
  const [address] = /\[.*\]/.exec(value.toLowerCase()) ?? [];
  return address === undefined || URL.parse(`http://${address}`)?.hostname === address;
}

const signInUrl = text().superRefine((value, context) => {
  const problem = signInProblem(value);
  if (problem !== undefined) context.addIssue(problem);
});

export const DEFAULT_IDENTITY_HEADERS = {
  "x-user-id": "user.id",
  "x-user-email": "user.email",
  "x-user-role": "user.role",
  "x-user-permissions": "user.permissions",
  "x-user-department": "user.department",
  "x-customer-id": "customer.id",
} as const;

export const identity = z
  .strictObject({
    provider: setting(choice("oidc"), "oidc", "Kind of identity provider: OpenID Connect."),
    issuer: setting(
      url(),
      "http://127.0.0.1:8080",
      "URL of the identity provider: the `iss` that tokens must carry, and where its keys are discovered. Default: the " +
        "control plane of this machine.",
    ),
    audience: setting(
      oneOrMore(text()),
      "gatehouse",
      "The `aud` that tokens must be made for; with several, one of them.",
    ),
    jwks: optional(
      holdsPaths(text(), (jwks, resolve) => (/^https?:\/\//i.test(jwks) ? jwks : resolve(jwks))),
      "URL or file of the provider's public keys (JWKS). Default: discovered from the issuer.",
    ),
    algorithms: setting(
      list(choice(...ALGORITHMS)).refine((names) => names.length > 0, "must not be empty"),
      ["RS256", "PS256", "ES256", "EdDSA"],
      "Signature algorithms that tokens may use.",
    ),
    clock_tolerance: setting(
      duration("0s", "5m"),
      "30s",
      "Difference of clocks that is forgiven when times are compared.",
    ),
    claims: setting(
      map(attributePath, claimPath, "attribute path to claim path"),
      {},
      "Where attributes come from when the token's claims have other names, e.g. `user.role: realm_access.role`.",
    ),
    headers: setting(
      map(headerName, attributePath, "header name to attribute path"),
      DEFAULT_IDENTITY_HEADERS,
      "Headers that tell the application who is asking. They are set from the verified token and nothing else: what a " +
        "client sends under these names is removed, and what it sends under the names of the default, in any spelling: " +
        "letter case and everything but letters and digits are set aside. Replaces the default as a whole.",
    ),
    header_prefixes: setting(
      list(headerPrefix),
      ["x-user-", "x-customer-"],
      "Clients may not use header names that begin like this, in any spelling: they are removed, so that an application " +
        "never takes a client's `x-user-plan` for one of ours. Replaces the default as a whole.",
    ),
    client_headers: setting(
      list(clientHeader),
      [],
      "Header names under `identity.header_prefixes`, or of other products' identity headers such as `x-forwarded-user` and `x-amzn-oidc-data`, " +
        "that the application needs from its clients, e.g. `x-user-agent` of gRPC-Web. Spelled exactly so they pass.",
    ),
    cookie: optional(
      text()
        .refine((value) => /^[!#$%&'*+.^_`|~\w-]+$/.test(value), "must be a cookie name")
        .refine(
          (value) => value.length <= LONGEST_COOKIE_NAME,
          `must not be longer than ${LONGEST_COOKIE_NAME} characters`,
        ),
      "Cookie that carries the token where there is no Authorization header (browsers).",
    ),
    cookie_origin_check: setting(
      flag(),
      true,
      "Take the cookie for a request that changes something (all methods but GET, HEAD and OPTIONS) or opens a " +
        "WebSocket only from pages of the gateway's own origin and of `identity.trusted_origins`. `false` lets every " +
        "site act for users who are signed in (CSRF), unless the application prevents it.",
    ),
    trusted_origins: setting(
      list(origin),
      [],
      "Further origins whose pages may use the cookie, e.g. `https://admin.example.com`; also the gateway's own public " +
        "origin where a proxy in front ends TLS or changes Host.",
    ),
    sign_in_url: optional(
      signInUrl,
      "Where people sign in: the page that browsers get with a 401 leads there. An http or https URL, or a path of the " +
        "gateway. `{return_to}` in its query becomes the path and query of the page that was asked for, percent-encoded, " +
        "never an address of another site: `https://login.example.com/?next={return_to}`.",
    ),
    token_types: setting(
      list(text()).refine((names) => names.length > 0, "must not be empty"),
      ["at+jwt", "JWT"],
      "Values of the token's `typ` header that are accepted (a token without `typ` counts as `JWT`).",
    ),
    jwks_refresh_interval: setting(duration("1s", "24h"), "10m", "How often the keys are fetched anew."),
    jwks_cooldown: setting(
      duration("1s", "1h"),
      "30s",
      "Least time between two fetches, however many tokens name unknown keys.",
    ),
    jwks_max_stale: setting(
      duration("1s", "720h"),
      "24h",
      "How long known keys go on being used while the provider cannot be reached.",
    ),
  })
  .prefault({});
