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
  "Kubernetes and its impersonation": {
    names: under("x-remote", "user", "group", "groups", "email", "name", "uid"),
    prefixes: ["x-remote-extra-", "impersonate-"],
  },
  Grafana: { names: under("x-grafana", "id", "user"), prefixes: ["x-webauth-"] },
  /** The tenant. */
  "Grafana Loki, Mimir, Tempo; Cortex": { names: ["x-scope-orgid"] },
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
  Kong: {
    names: ["x-credential-identifier", "x-userinfo", "x-access-token", "x-id-token"],
    prefixes: ["x-consumer-", "x-authenticated-"],
  },
  "Istio, Envoy Gateway, WSO2": { prefixes: ["x-jwt-"] },
  Hasura: { prefixes: ["x-hasura-"] },
  "Keycloak Gatekeeper and others": {
    names: under("x-auth", "user", "userid", "username", "subject", "email", "roles", "groups"),
  },
  CouchDB: { prefixes: ["x-auth-couchdb-"] },
  "Elasticsearch, OpenSearch": {
    names: ["es-security-runas-user"].concat(under("x-proxy", "user", "roles")),
  },
  "SonarQube, Rundeck": { names: under("x-forwarded", "login", "name", "roles", "uuid") },
  mod_auth_openidc: { names: ["oidc-access-token", "oidc-id-token"], prefixes: ["oidc-claim-"] },
  Shibboleth: { prefixes: ["shib-"] },
  "SiteMinder, WebSEAL, Oracle Access Manager": {
    names: ["sm-user", "sm-userdn", "sm-universalid", "oam-remote-user"].concat(
      under("iv", "user", "user-l", "groups", "creds"),
    ),
  },
  "client certificates (RFC 9440; nginx, Apache, HAProxy, Traefik)": {
    names: ["client-cert", "client-cert-chain", "x-ssl-cert"].concat(
      under("x-client", "dn", "s-dn", "subject-dn", "i-dn", "issuer-dn", "verify", "serial", "fingerprint"),
    ),
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
