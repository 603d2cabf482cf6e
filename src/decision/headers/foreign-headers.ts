/** Headers by which a product tells applications who the caller is, in lower case. */
interface Foreign {
  readonly names?: readonly string[];
  readonly prefixes?: readonly string[];
}

/**
 * Headers that other front doors set for applications, each according to its own documentation. No proxy of ours sets
 * them, so they come from the client, and an application that used to be behind such a front door would trust them. If
 * the gateway itself uses one (for example, a token in `Cf-Access-Jwt-Assertion`), it reads it before it is removed
 * (`point/serve-door.ts`). No application ever gets the client's own.
 */
const FOREIGN = {
  "oauth2-proxy": {
    names: under("x-forwarded", "user", "email", "groups", "preferred-username", "access-token", "id-token"),
    prefixes: ["x-auth-request-"],
  },
  "Authelia, Apache, CGI": {
    names: under("remote", "user", "group", "groups", "email", "name"),
    prefixes: ["x-authelia-"],
  },
  Kubernetes: {
    names: under("x-remote", "user", "group", "groups", "email", "name", "uid"),
    prefixes: ["x-remote-extra-"],
  },
  Grafana: { prefixes: ["x-webauth-"] },
  "AWS Application Load Balancer": { prefixes: ["x-amzn-oidc-", "x-amzn-mtls-clientcert"] },
  "Google Identity-Aware Proxy, App Engine, Cloud Endpoints, API Gateway": {
    names: ["x-endpoint-api-userinfo", "x-apigateway-api-userinfo"],
    prefixes: ["x-goog-authenticated-user-", "x-goog-iap-", "x-appengine-user-"],
  },
  "Azure App Service, Container Apps": {
    names: ["x-arr-clientcert"],
    prefixes: ["x-ms-client-principal", "x-ms-token-"],
  },
  "Cloudflare Access": { prefixes: ["cf-access-"] },
  Pomerium: { prefixes: ["x-pomerium-"] },
  authentik: { prefixes: ["x-authentik-"] },
  "Vouch Proxy": { prefixes: ["x-vouch-"] },
  Tailscale: { prefixes: ["tailscale-", "x-tailscale-"] },
  Kong: { names: ["x-credential-identifier"], prefixes: ["x-consumer-", "x-authenticated-"] },
  "Keycloak Gatekeeper": {
    names: under("x-auth", "userid", "username", "subject", "email", "roles", "groups"),
  },
  mod_auth_openidc: { names: ["oidc-access-token", "oidc-id-token"], prefixes: ["oidc-claim-"] },
  Shibboleth: { prefixes: ["shib-"] },
  "SiteMinder, WebSEAL, Oracle Access Manager": {
    names: ["sm-user", "sm-userdn", "sm-universalid", "oam-remote-user"].concat(
      under("iv", "user", "user-l", "groups", "creds"),
    ),
  },
  "client certificates (RFC 9440; nginx, Apache, HAProxy, Traefik)": {
    names: ["client-cert", "client-cert-chain", "x-ssl-cert"],
    prefixes: ["ssl-client-", "x-ssl-client-", "x-client-cert", "x-forwarded-tls-client-cert"],
  },
  /** The path that was requested. */
  nginx: { names: ["x-original-uri"] },
} as const satisfies Readonly<Record<string, Foreign>>;

function under(kind: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `${kind}-${name}`);
}

const PRODUCTS: readonly Foreign[] = Object.values(FOREIGN);
export const FOREIGN_NAMES: readonly string[] = PRODUCTS.flatMap(({ names = [] }) => names);
export const FOREIGN_PREFIXES: readonly string[] = PRODUCTS.flatMap(({ prefixes = [] }) => prefixes);
