import { validationFailed, type ApiError } from "../../platform/errors.ts";
import type { IdpConfiguration } from "./idp-schemas.ts";
import type { IdpRow } from "../../tenancy/idp.ts";
import { isLoopback } from "./return-url.ts";

/** What is known about a provider from its configuration alone. */
export interface DerivedIssuer {
  readonly domain: string;
  readonly issuer: string;
  readonly tenant: string | null;
  readonly realm: string | null;
  /** `issuer` names the tenant by its domain; the issuer with its id is in the discovery document. */
  readonly byTenantName: boolean;
}

type Configured = Pick<IdpConfiguration, "type" | "domain" | "issuer" | "tenant" | "realm">;

const GOOGLE = "accounts.google.com";
const ENTRA = "login.microsoftonline.com";
/** Microsoft's sign-in hosts: https://learn.microsoft.com/entra/identity-platform/authentication-national-cloud */
const ENTRA_HOSTS: readonly string[] = [
  ENTRA,
  "login.microsoftonline.us",
  "login.partner.microsoftonline.cn",
];

/**
 * Derives the issuer as each provider documents it:
 *
 * | type | issuer |
 * |---|---|
 * | oidc | `https://{domain}` |
 * | okta | `https://{domain}`, the organization's authorization server, which every one has |
 * | auth0 | `https://{domain}/`, with the slash |
 * | entra | `https://login.microsoftonline.com/{tenant}/v2.0`, or another Microsoft host if `domain` is one |
 * | google | `https://accounts.google.com`; another `domain` is the Workspace domain that users must belong to |
 * | keycloak | `https://{domain}/realms/{realm}` |
 *
 * @throws ApiError 422
 */
export function deriveIssuer(configured: Configured, allowInsecure: boolean): DerivedIssuer {
  const { type, issuer, tenant, realm } = configured;
  refuse("tenant", tenant !== undefined && type !== "entra", "is only allowed for the type `entra`");
  refuse("realm", realm !== undefined && type !== "keycloak", "is only allowed for the type `keycloak`");
  const { origin, host, hostname } = readDomain(configured.domain, allowInsecure);
  const domain = origin.startsWith("http://") ? origin : host;
  const rest = { domain, tenant: tenant ?? null, realm: realm ?? null, byTenantName: false };
  if (type === "google" || type === "entra")
    refuse("issuer", issuer !== undefined, `is fixed for the type \`${type}\` and must be omitted`);
  if (issuer !== undefined) return { ...rest, issuer: readIssuer(issuer, host, allowInsecure) };
  switch (type) {
    case "oidc":
    case "okta":
      return { ...rest, issuer: origin };
    case "auth0":
      return { ...rest, issuer: `${origin}/` };
    case "google":
      return { ...rest, issuer: isLoopback(hostname) ? origin : `https://${GOOGLE}` };
    case "keycloak":
      if (realm === undefined)
        throw invalid("realm", "is required for the type `keycloak` unless `issuer` is given");
      return { ...rest, issuer: `${origin}/realms/${realm}` };
    case "entra": {
      const own = isLoopback(hostname) || ENTRA_HOSTS.includes(host);
      if (own && tenant === undefined)
        throw invalid("tenant", `is required because \`${domain}\` is the sign-in host of all tenants`);
      const authority = own ? origin : `https://${ENTRA}`;
      return { ...rest, issuer: `${authority}/${tenant ?? host}/v2.0`, byTenantName: tenant === undefined };
    }
  }
}

/**
 * Claims that an ID token must have in addition to those of OpenID Connect: anybody can have an account at Google, so a
 * user who must belong to a Workspace domain needs the claim `hd`.
 */
export function requiredClaims(idp: Pick<IdpRow, "type" | "domain" | "issuer">): Record<string, string> {
  const hosted = idp.type === "google" && idp.issuer === `https://${GOOGLE}` && idp.domain !== GOOGLE;
  return hosted ? { hd: idp.domain } : {};
}

/** Whether a URL from a provider's documents may be used; http only if that is allowed. */
export function isReachable(url: URL, allowInsecure: boolean): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && allowInsecure);
}

function readDomain(text: string, allowInsecure: boolean) {
  const [, scheme = "https://", host = ""] = /^(https?:\/\/)?([!-~]+)$/.exec(text.toLowerCase()) ?? [];
  const url = URL.parse(`${scheme}${host}`);
  // if the text differs from the parsed host, it contains a path or a user name, or is another notation of an address
  if (url?.origin !== `${scheme}${host}`)
    throw invalid("domain", "must be a host such as `login.example.com`, with the port if it is not 443");
  if (!isReachable(url, allowInsecure)) throw invalid("domain", "must use https");
  return url;
}

/** OpenID Connect Discovery 1.0, section 3: scheme, host, and no query or fragment. */
function readIssuer(text: string, host: string, allowInsecure: boolean): string {
  const url = URL.parse(text);
  if (url === null || /[?#]/.test(text) || (text !== url.href && `${text}/` !== url.href))
    throw invalid("issuer", "must be a URL such as `https://login.example.com/tenant`");
  if (!isReachable(url, allowInsecure))
    throw invalid("issuer", "must begin with `https://` and must not contain a user name");
  if (url.host !== host) throw invalid("issuer", "must have the host given in `domain`");
  return text;
}

function refuse(path: string, when: boolean, message: string): void {
  if (when) throw invalid(path, message);
}

function invalid(path: string, message: string): ApiError {
  return validationFailed([{ path, message }]);
}
