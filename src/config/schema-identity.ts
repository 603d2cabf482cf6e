import * as z from "zod";
import { LONGEST_COOKIE_NAME } from "../identity/credential-patterns.ts";
import { parseClaimPath } from "../identity/claim-path.ts";
import { SEPARATORS } from "../identity/claims.ts";
import { isAlbArn } from "../identity/alb-signer.ts";
import { ALGORITHMS } from "../identity/options.ts";
import { signInProblem } from "../pages/index.ts";
import { foldHeaderName, FORWARDED_HEADERS, readOrigin } from "../request/index.ts";
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

/** With a delimiter at the end, so that it covers no subprotocol of the application by accident. */
const protocolPrefix = text()
  .refine(
    (value) => /^[!#$%&'*+^_`|~\w.-]{3,}[.-]$/.test(value),
    "must be a prefix of subprotocols that ends with `.` or `-`",
  )
  .refine(
    (value) => value.length <= LONGEST_COOKIE_NAME,
    `must not be longer than ${LONGEST_COOKIE_NAME} characters`,
  );

const paramPath = text().refine(
  (value) => parseClaimPath(value)?.names.every((name) => name !== "") === true,
  'must be a member or a path of members such as `headers.authorization`, with quotes around a name with dots: `"my.token"`',
);

const loadBalancer = text().refine(
  isAlbArn,
  "must be the ARN of an Application Load Balancer: `arn:aws:elasticloadbalancing:<region>:<account>:loadbalancer/app/<name>/<id>`",
);

const claimPath = text().refine(
  (value) => parseClaimPath(value) !== undefined,
  'must be a claim or a path of claims such as `realm_access.roles`, with quotes around a name with dots: `resource_access."my.client".roles`',
);

/** Headers that frame a message, carry credentials, or describe its route. */
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
const UNSETTABLE: ReadonlySet<string> = new Set([
  ...COMMON_HEADERS,
  ...FORWARDED_HEADERS,
  ...["x-backend-url", "x-real-ip", "x-user-token"],
]);

const HEADER_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** RFC 9110 section 5.1, in lower case; Envoy refuses underscores, and pseudo and hop-by-hop headers are not allowed. */
const headerName = z
  .string()
  .regex(HEADER_NAME, "must be a header name in lower case: letters, digits and `-`")
  .refine((name) => !UNSETTABLE.has(name), "is a header that the gateway must not set");

const clientHeader = text().refine(
  (name) => HEADER_NAME.test(name),
  "must be a header name in lower case: letters, digits and `-`",
);

/** A prefix of header names that clients may not use. One that covers headers added by proxies would remove those, too. */
const headerPrefix = text()
  .refine((prefix) => HEADER_NAME.test(prefix), "must be a lower-case prefix of a header name")
  .refine(
    (prefix) => COMMON_HEADERS.every((name) => !foldHeaderName(name).startsWith(foldHeaderName(prefix))),
    "must not cover headers that any request may have, such as `x-request-id`",
  );

/** Origins whose pages may use the cookie. `null` would cover every sandboxed frame; patterns are too easy to get wrong. */
const origin = text().refine(
  (value) => readOrigin(value) !== undefined && isBrowsersAddress(value),
  "must be one origin as browsers send it, such as `https://app.example.com` or `http://[::1]:3000`: scheme, host and " +
    "optional port, without a path or `*`",
);

/** An IPv6 address has many spellings; browsers send only one of them. */
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
      "URL of the identity provider: the required `iss` of tokens, and the base for discovering its keys. Default: the " +
        "control plane on this machine.",
    ),
    audience: setting(
      oneOrMore(text()),
      "gatehouse",
      "The required `aud` of tokens; if several are listed, one of them.",
    ),
    client_ids: setting(
      list(text()),
      [],
      "Accepted `client_id` of tokens without `aud`, such as access tokens of Amazon Cognito. A token that has an `aud` " +
        "must name the audience, whatever its `client_id`. List only clients that are meant to call this application: " +
        "without `aud`, the issuer does not say whom a token is for. Default: a token without `aud` is refused.",
    ),
    jwks: optional(
      holdsPaths(text(), (jwks, resolve) => (/^https?:\/\//i.test(jwks) ? jwks : resolve(jwks))),
      "URL or file of the provider's public keys (JWKS). Default: discovered from the issuer.",
    ),
    algorithms: setting(
      list(choice(...ALGORITHMS)).refine((names) => names.length > 0, "must not be empty"),
      ["RS256", "PS256", "ES256", "EdDSA"],
      "Accepted signature algorithms of tokens.",
    ),
    clock_tolerance: setting(
      duration("0s", "5m"),
      "30s",
      "Clock skew tolerated when token times are checked.",
    ),
    claims: setting(
      map(attributePath, claimPath, "attribute path to claim path"),
      {},
      "Mapping of attributes to claims with other names, e.g. `user.role: realm_access.role`. A claim with exactly that " +
        'name comes first, then the path. Quote names with dots: `resource_access."my.client".roles`.',
    ),
    claim_lists: setting(
      map(attributePath, choice(...SEPARATORS), "attribute path to `space` or `comma`"),
      {},
      "Attributes whose claim may be one string of several values, and what separates them, e.g. `user.roles: comma`. " +
        "The attribute is then a list. `user.scopes` is separated by spaces.",
    ),
    headers: setting(
      map(headerName, attributePath, "header name to attribute path"),
      DEFAULT_IDENTITY_HEADERS,
      "Headers that tell the application who the caller is. They are set only from the verified token: a client's headers " +
        "with these names, or with the names of the default, are removed in any spelling (case and all characters other than " +
        "letters and digits are ignored). Replaces the whole default.",
    ),
    header_prefixes: setting(
      list(headerPrefix),
      ["x-user-", "x-customer-"],
      "Prefixes of header names that clients may not use. Such headers are removed in any spelling, so that an application " +
        "never mistakes a client's `x-user-plan` for one of ours. Replaces the whole default.",
    ),
    client_headers: setting(
      list(clientHeader),
      [],
      "Header names under `identity.header_prefixes`, or of other products' identity headers such as `x-forwarded-user` and `x-amzn-oidc-data`, " +
        "that the application needs from its clients, e.g. `x-user-agent` of gRPC-Web. They pass only in exactly this spelling.",
    ),
    cookie: optional(
      text()
        .refine((value) => /^[!#$%&'*+.^_`|~\w-]+$/.test(value), "must be a cookie name")
        .refine(
          (value) => value.length <= LONGEST_COOKIE_NAME,
          `must not be longer than ${LONGEST_COOKIE_NAME} characters`,
        ),
      "Cookie that carries the token if there is no Authorization header (browsers).",
    ),
    token_header: optional(
      clientHeader.refine(
        (name) => !UNSETTABLE.has(name),
        "is a header that the gateway reads or needs for something else",
      ),
      "Header in which an access proxy in front of the gateway sends the token alone, e.g. `cf-access-jwt-assertion` of " +
        "Cloudflare Access. The token is verified like any other; neither rules nor the application get the header. The " +
        "proxy derives it from its own cookie, so it counts like `identity.cookie`.",
    ),
    alb: z
      .strictObject({
        signers: setting(
          list(loadBalancer),
          [],
          "ARNs of the AWS Application Load Balancers whose tokens in `X-Amzn-Oidc-Data` identify the caller. Their keys are " +
            "fetched from AWS, for the region in the ARN. The token's `iss` must be `identity.issuer`. It counts like " +
            "`identity.cookie`. Default: the header is removed unread.",
        ),
        clients: setting(
          list(text()),
          [],
          "Accepted `client` of these tokens: the client ids with which the load balancer signs users in. Default: any.",
        ),
        keys_url: optional(
          url(),
          "Address under which the keys are, each by its id. Default: the address of AWS for the region.",
        ),
      })
      .prefault({}),
    websocket_protocol: optional(
      protocolPrefix,
      "Prefix of the WebSocket subprotocol that carries the token, for browsers, which cannot set a header: " +
        "`new WebSocket(url, ['bearer.' + token, 'v1'])`. After a prefix that begins with `base64url.`, such as Kubernetes' " +
        "`base64url.bearer.authorization.k8s.io.`, the token is encoded in base64url. The gateway removes this subprotocol; " +
        "the client must offer another one, which the application can choose. Next to such a token, the application does not " +
        "get `identity.cookie`: a page of any site can open the WebSocket, so the cookie may be another user's.",
    ),
    connection_params: setting(
      list(paramPath)
        .refine((paths) => new Set(paths).size === paths.length, "must not list a member twice")
        .refine((paths) => paths.length <= 10, "must not list more than 10 members"),
      [],
      "Members of the payload of `connection_init` (`connectionParams` of graphql-ws and subscriptions-transport-ws) that " +
        "may carry the token, alone or after `Bearer`, e.g. `[authorization, headers.authorization]`. Nothing of such a " +
        "connection reaches the application before `connection_init`, and then its operations are evaluated for the " +
        "token's user. Names are exact: list each spelling that clients use. A handshake to a GraphQL endpoint that lacks " +
        "nothing but an identity is passed on, and its rules are evaluated again with this token. The application gets " +
        "the payload as it is, but none of `identity.headers`. A token in the handshake must be the same one. Default: " +
        "such tokens are not read.",
    ),
    api_keys: setting(
      choice("refuse", "accept", "forward"),
      "refuse",
      "Whether API keys of the control plane with the scope `caller` identify callers, as bearer tokens. The gateway looks " +
        "them up by their hash. `accept`: the application does not get the key; `forward`: it does. Needs `control_plane`.",
    ),
    foreign_bearer: setting(
      choice("refuse", "pass"),
      "refuse",
      "What happens to bearer tokens of the application's own: those that do not resemble a JWT, and JWTs that name another " +
        "issuer. `pass`: where the rule reads no identity, the request is forwarded with the token as it is, as that of an " +
        "anonymous caller; other rules answer 401 (`TOKEN_FOREIGN`). A damaged or expired token of the configured issuer is " +
        "refused everywhere, in both cases.",
    ),
    cookie_origin_check: setting(
      flag(),
      true,
      "For requests that change something (all methods except GET, HEAD and OPTIONS) or open a WebSocket, accept the cookie " +
        "only from pages of the gateway's own origin and of `identity.trusted_origins`. `false` lets any site act for " +
        "signed-in users (CSRF) unless the application prevents it.",
    ),
    trusted_origins: setting(
      list(origin),
      [],
      "Additional origins whose pages may use the cookie, e.g. `https://admin.example.com`. Include the gateway's own public " +
        "origin if a proxy in front terminates TLS or changes Host.",
    ),
    sign_in_url: optional(
      signInUrl,
      "Sign-in page, which the page that browsers get with a 401 links to. An http or https URL, or a path on the gateway. " +
        "`{return_to}` in its query is replaced by the path and query of the requested page, percent-encoded and never an " +
        "address of another site: `https://login.example.com/?next={return_to}`.",
    ),
    token_types: setting(
      list(text()).refine((names) => names.length > 0, "must not be empty"),
      ["at+jwt", "JWT"],
      "Accepted values of the token's `typ` header (a token without `typ` counts as `JWT`).",
    ),
    jwks_refresh_interval: setting(duration("1s", "24h"), "10m", "How often the keys are fetched."),
    jwks_cooldown: setting(
      duration("1s", "1h"),
      "30s",
      "Minimum time between two fetches, no matter how many tokens name unknown keys.",
    ),
    jwks_max_stale: setting(
      duration("1s", "720h"),
      "24h",
      "How long known keys stay in use while the provider is unreachable.",
    ),
  })
  .prefault({});
